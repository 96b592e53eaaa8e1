import { FakeClock } from "@holdfast/clock/testing";
import { type Attempt, isTimeoutError, poll, type RetryOptions, retry } from "@holdfast/wait";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AbortCallbacks } from "../../../../test/abort-callbacks.ts";
import { AbortControllers } from "../../../../test/abort-controllers.ts";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const backoff = { duration: 10 };
const again = (): never => {
  throw new Error("503");
};

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

afterEach(() => {
  expect(clock.waiters()).toBe(0);
});

/** Calls `fn` in `count` attempts, of which the last succeeds. */
type Loop = (
  fn: (attempt: Attempt) => unknown,
  count: number,
  options?: RetryOptions,
) => Promise<unknown>;

const RETRY: Loop = (fn, count, options) =>
  retry(
    async (given) => {
      await fn(given);
      return given.attempt < count ? again() : "done";
    },
    { backoff, retries: count, clock, ...options },
  );
const POLL: Loop = (fn, count, options) =>
  poll(
    async (given) => {
      await fn(given);
      return given.attempt >= count;
    },
    { backoff, clock, attemptTimeout: options?.attemptTimeout },
  );
const LOOPS = { retry: RETRY, poll: POLL };

describe("a call of retry that nothing ends", () => {
  it.each([
    ["without hooks", {}],
    ["with hooks", { onRetry: async () => {}, shouldRetry: async () => true }],
    ["with a delay hook", { delay: async () => 5 }],
  ])("waits for no abort, %s", async (_, hooks) => {
    using callbacks = new AbortCallbacks();
    const counts: number[] = [];
    const count = () => clock.sleep(1).then(() => counts.push(callbacks.count));
    await clock.run(() => RETRY(count, 3, hooks));
    expect(counts).toEqual([0, 0, 0]);
  });

  it("gives its attempts and hooks one signal, which does not abort", async () => {
    const signals: AbortSignal[] = [];
    const note = ({ signal }: { signal: AbortSignal }) => void signals.push(signal);
    await clock.run(() => RETRY(note, 3, { onRetry: note }));
    expect([signals.length, new Set(signals).size]).toEqual([5, 1]);
    expect(signals.map((signal) => [signal.aborted, abortListeners(signal)])[0]).toEqual([
      false,
      0,
    ]);
  });
});

describe.each(Object.entries(LOOPS))("the attempts of %s with attemptTimeout", (_, loop) => {
  it("share one timer, and make no signal if they read none", async () => {
    const costs = async (count: number) => {
      const timers = vi.spyOn(clock, "afterFunc");
      using controllers = new AbortControllers();
      await clock.run(() => loop(() => clock.sleep(1), count, { attemptTimeout: 50 }));
      const armed = timers.mock.calls.length;
      timers.mockRestore();
      return [armed, controllers.count];
    };
    await costs(1); // the first listener of a process probes the platform
    const few = await costs(2);
    expect(await costs(200)).toEqual(few);
    expect(few[0]).toBe(1);
  });

  it("each have a signal of their own, also one that is read late", async () => {
    const given: Attempt[] = [];
    const fn = (attempt: Attempt) => {
      given.push(attempt);
      return attempt.attempt === 2 ? clock.sleep(1_000, { signal: attempt.signal }) : undefined;
    };
    await clock.run(() => loop(fn, 3, { attemptTimeout: 50 }));
    expect(given.map(({ signal }) => [signal.aborted, isTimeoutError(signal.reason)])).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
    expect(new Set(given.map(({ signal }) => signal)).size).toBe(3);
  });

  it("have their signal also in a copy of the attempt", async () => {
    const copies: unknown[] = [];
    await clock.run(() =>
      loop((attempt) => copies.push({ ...attempt }), 1, { attemptTimeout: 50 }),
    );
    expect(copies).toEqual([{ attempt: 1, signal: expect.any(AbortSignal) }]);
  });

  it("listen to no signal while they sleep on it", async () => {
    const counts: number[] = [];
    const fn = async ({ signal }: Attempt) => {
      const sleeping = clock.sleep(1, { signal });
      counts.push(abortListeners(signal));
      await sleeping;
    };
    await clock.run(() => loop(fn, 2, { attemptTimeout: 50 }));
    expect(counts).toEqual([0, 0]);
  });
});
