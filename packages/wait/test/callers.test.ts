import { FakeClock } from "@holdfast/clock/testing";
import {
  Backoff,
  backoffUntil,
  expectOk,
  isTimeoutError,
  poll,
  retry,
  TerminalError,
  withTimeout,
} from "@holdfast/wait";
import { connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import {
  delayUntil,
  exponentialBackoff,
  forever,
  jitterUntil,
  nonSlidingUntil,
  onError,
  pollUntil,
  retryOnConflict,
  until,
} from "@holdfast/wait/go";
import { backoffManager } from "@holdfast/wait/loop";
import { describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";

const live = new AbortController().signal;

/** A call of the package whose work fails at its call number `last`. */
type Failing = (clock: FakeClock, last: number) => () => Promise<unknown>;

/** A function that fails at its call number `last`, and `before` at each call before that. */
function failing<Value>(last: number, before: () => Value): () => Promise<Value> {
  let calls = 0;
  return async function work() {
    const call = ++calls;
    await Promise.resolve();
    if (call < last) return before();
    throw new Error("inside");
  };
}

const again = (): never => {
  throw new Error("before");
};
const conflict = (): never => {
  throw Object.assign(new Error("conflict"), { code: 409 });
};
/** Delays of 10 ms, and an error when they are used up. */
const delays = (count: number) => {
  let left = count;
  return () => {
    if (left-- > 0) return 10;
    throw new Error("inside");
  };
};
const backoff = { duration: 10 };
const connecting = { backoff, signal: live };
const manager = (clock: FakeClock) => backoffManager(new Backoff(backoff), { clock });

const LOOPS: Record<string, Failing> = {
  retry: (clock, last) => () => retry(failing(last, again), { backoff, retries: last - 1, clock }),
  "retry, attemptTimeout": (clock, last) => () =>
    retry(failing(last, again), { backoff, retries: last - 1, attemptTimeout: 50, clock }),
  "retry, hooks": (clock, last) => () =>
    retry(failing(last, again), {
      backoff,
      retries: last - 1,
      onRetry: async () => {},
      shouldRetry: async () => true,
      clock,
    }),
  poll: (clock, last) => () =>
    poll(
      failing(last, () => false),
      { backoff, clock },
    ),
  "poll, timeout": (clock, last) => () =>
    poll(
      failing(last, () => false),
      { backoff, timeout: 1_000, clock },
    ),
  backoffUntil: (clock, last) => () =>
    backoffUntil(
      failing(last, () => {}),
      manager(clock),
      true,
      live,
    ),
  pollUntil: (clock, last) => () =>
    pollUntil(
      failing(last, () => false),
      10,
      { clock },
    ),
  "pollUntil, timeout": (clock, last) => () =>
    pollUntil(
      failing(last, () => false),
      10,
      { timeout: 1_000, clock },
    ),
  delayUntil: (clock, last) => () =>
    delayUntil(
      () => 10,
      failing(last, () => false),
      { clock },
    ),
  exponentialBackoff: (clock, last) => () =>
    exponentialBackoff(
      failing(last, () => false),
      { backoff, clock },
    ),
  until: (clock, last) => () =>
    until(
      failing(last, () => {}),
      10,
      live,
      { clock },
    ),
  nonSlidingUntil: (clock, last) => () =>
    nonSlidingUntil(
      failing(last, () => {}),
      10,
      live,
      { clock },
    ),
  jitterUntil: (clock, last) => () =>
    jitterUntil(
      failing(last, () => {}),
      10,
      live,
      { clock },
    ),
  forever: (clock, last) => () =>
    forever(
      failing(last, () => {}),
      10,
      { clock },
    ),
  onError: (clock, last) => () =>
    onError({ ...backoff, steps: last }, () => true, failing(last, again), { clock }),
  retryOnConflict: (clock, last) => () =>
    retryOnConflict({ ...backoff, steps: last }, failing(last, conflict), { clock }),
  "connectWithBackoff, the last attempt": (clock, last) => () =>
    connectWithBackoff(failing(last, again), {
      ...connecting,
      backoff: { delayFunc: () => delays(last - 1) },
      clock,
    }),
  keepConnected: (clock, last) => () =>
    keepConnected(
      () => 1,
      failing(last, () => {}),
      { ...connecting, clock },
    ),
};

/** Calls that a timer ends with a `TimeoutError`. */
const TIMEOUTS: Record<string, (clock: FakeClock) => () => Promise<unknown>> = {
  withTimeout: (clock) => () => withTimeout(() => clock.sleep(100), 50, { clock }),
  "withTimeout of 0": (clock) => () => withTimeout(() => clock.sleep(100), 0, { clock }),
  "withTimeout, obedient work": (clock) => () =>
    withTimeout((signal) => clock.sleep(100, { signal }), 50, { clock }),
  "retry, attemptTimeout": (clock) => () =>
    retry(() => clock.sleep(100), { backoff, retries: 2, attemptTimeout: 50, clock }),
  "poll, timeout": (clock) => () => poll(() => false, { backoff, timeout: 50, clock }),
  "pollUntil, timeout": (clock) => () => pollUntil(() => false, 10, { timeout: 50, clock }),
  "delayUntil, timeout": (clock) => () =>
    delayUntil(
      () => 10,
      () => false,
      { timeout: 50, clock },
    ),
};

const OTHERS: Record<string, (clock: FakeClock) => () => Promise<unknown>> = {
  "exponentialBackoff, used up": (clock) => () =>
    exponentialBackoff(() => false, { backoff: { ...backoff, steps: 3 }, clock }),
  expectOk: () => async () => await expectOk(new Response("no", { status: 500 })),
  "a synchronous throw at the third attempt": (clock) => () => {
    let calls = 0;
    const work = () => (++calls < 3 ? again() : raise());
    return retry(work, { backoff, retries: 2, clock });
  },
  "a bad argument": () => () => retry(() => 1, { retries: -1 }),
};

function raise(): never {
  throw new Error("inside");
}

describe("the stack of an error shows the callers", () => {
  describe.each(Object.entries(LOOPS))("%s", (_, make) => {
    it.each([1, 3])("at call %i", async (last) => {
      const clock = new FakeClock();
      const { error, callers } = await clock.run(() => callersOf(make(clock, last)));
      expect(error).toHaveProperty("message", "inside");
      expect(callers).toEqual(BOTH);
    });
  });

  it.each(Object.entries(TIMEOUTS))("%s, when the time is over", async (_, make) => {
    const clock = new FakeClock();
    const { error, callers } = await clock.run(() => callersOf(make(clock)));
    expect([isTimeoutError(error), callers]).toEqual([true, BOTH]);
  });

  it.each(Object.entries(OTHERS))("%s", async (_, make) => {
    const clock = new FakeClock();
    expect((await clock.run(() => callersOf(make(clock)))).callers).toEqual(BOTH);
  });
});

/** Calls of the package whose work throws at once, without a promise in between. */
const DIRECT: Record<string, (work: () => never, clock: FakeClock) => Promise<unknown>> = {
  retry: (work, clock) => retry(work, { retries: 0, clock }),
  "retry, attemptTimeout": (work, clock) => retry(work, { retries: 0, attemptTimeout: 50, clock }),
  "retry, all limits": (work, clock) =>
    retry(work, { retries: 0, attemptTimeout: 50, timeout: 100, signal: live, clock }),
  poll: (work, clock) => poll(work, { clock }),
  "poll, all limits": (work, clock) =>
    poll(work, { attemptTimeout: 50, timeout: 100, signal: live, clock }),
  withTimeout: (work, clock) => withTimeout(work, 50, { signal: live, clock }),
  backoffUntil: (work, clock) => backoffUntil(work, manager(clock), true, live),
  connectWithBackoff: (work, clock) =>
    connectWithBackoff(
      () => {
        try {
          return work();
        } catch (error) {
          throw new TerminalError("no", { cause: error });
        }
      },
      { ...connecting, clock },
    ).catch((error: Error) => Promise.reject(error.cause as Error)),
  "keepConnected, connect": (work, clock) =>
    keepConnected(
      () => {
        try {
          return work();
        } catch (error) {
          throw new TerminalError("no", { cause: error });
        }
      },
      () => {},
      { ...connecting, clock },
    ).catch((error: Error) => Promise.reject(error.cause as Error)),
  "keepConnected, use": (work, clock) => keepConnected(() => 1, work, { ...connecting, clock }),
  pollUntil: (work, clock) => pollUntil(work, 10, { clock }),
  "pollUntil, timeout": (work, clock) => pollUntil(work, 10, { timeout: 100, clock }),
  delayUntil: (work, clock) => delayUntil(() => 10, work, { clock }),
  exponentialBackoff: (work, clock) => exponentialBackoff(work, { backoff, clock }),
  until: (work, clock) => until(work, 10, live, { clock }),
  nonSlidingUntil: (work, clock) => nonSlidingUntil(work, 10, live, { clock }),
  jitterUntil: (work, clock) => jitterUntil(work, 10, live, { clock }),
  forever: (work, clock) => forever(work, 10, { clock }),
  onError: (work, clock) => onError({ ...backoff, steps: 1 }, () => true, work, { clock }),
  retryOnConflict: (work, clock) => retryOnConflict({ ...backoff, steps: 1 }, work, { clock }),
};

describe("at most five frames of ours stand between the work and the caller", () => {
  it.each(Object.entries(DIRECT))("%s", async (_, call) => {
    const clock = new FakeClock();
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 50;
    try {
      const failed = call(raise, clock).catch((reason: unknown) => reason);
      const error = (await clock.run(() => failed)) as Error;
      expect(error.message).toBe("inside");
      const [work = "", ...frames] = error.stack?.match(/^ +at .*$/gm) ?? [];
      expect(work).toContain("raise");
      const ours = frames.filter((frame) => /packages\/(clock|wait)\/src\/(?!testing)/.test(frame));
      expect(ours.length).toBeLessThanOrEqual(5);
    } finally {
      Error.stackTraceLimit = limit;
    }
  });
});

describe("an abort", () => {
  it.each([
    ["retry", (signal: AbortSignal) => retry(again, { backoff: { duration: 10 }, signal })],
    ["poll", (signal: AbortSignal) => poll(() => false, { signal })],
    ["withTimeout", (signal: AbortSignal) => withTimeout(never, 1_000, { signal })],
    ["pollUntil", (signal: AbortSignal) => pollUntil(() => false, 10, { signal })],
    ["connectWithBackoff", (signal: AbortSignal) => connectWithBackoff(never, { signal })],
  ])("rejects %s with the reason itself, whose stack stays as it was", async (_, call) => {
    const stop = new AbortController();
    const reason = new Error("bye");
    const { stack } = reason;
    const { error } = await callersOf(() => {
      queueMicrotask(() => stop.abort(reason));
      return call(stop.signal);
    });
    expect(error).toBe(reason);
    expect(reason.stack).toBe(stack);
  });
});

function never(): Promise<never> {
  return new Promise(() => {});
}
