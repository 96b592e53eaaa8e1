// Bugs of other libraries that the tests of retry, poll and every do not rule out already. Read the names with their
// group: "retry never writes into its options".
import { FakeClock } from "@holdfast/clock/testing";
import { isTimeoutError, poll, type RetryOptions, retry } from "@holdfast/wait";
import { install } from "@sinonjs/fake-timers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";

const REFUSED = new Error("refused");

let clock: FakeClock;
let start: number;
let stop: AbortController;
const unhandled = vi.fn();
const warned = vi.fn();

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  stop = new AbortController();
  process.on("unhandledRejection", unhandled).on("warning", warned);
});

afterEach(async () => {
  await clock.step(0);
  process.off("unhandledRejection", unhandled).off("warning", warned);
  expect(unhandled).not.toHaveBeenCalled();
  expect(warned).not.toHaveBeenCalled();
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});

const now = () => clock.monotonic() - start;

/** Work that always fails, and the instants of its calls. */
function failing() {
  const calls: number[] = [];
  const fn = async () => {
    calls.push(now());
    throw REFUSED;
  };
  return { calls, fn };
}

/** The outcome of a retry of `fn`, and its instant. */
async function ended(fn: () => unknown, options: RetryOptions = {}) {
  const { signal } = stop;
  const end = retry(fn, { backoff: { duration: 100, factor: 2 }, signal, clock, ...options }).then(
    (value) => ({ value, at: now() }),
    (error: unknown) => ({ error, at: now() }),
  );
  return clock.run(() => end, { turns: 0 });
}

describe("retry never", () => {
  it("leaves a listener for each attempt with a timeout (cockatiel#81)", async () => {
    const { fn } = failing();
    const listeners: number[] = [];
    const onRetry = () => listeners.push(abortListeners(stop.signal));
    await ended(fn, { retries: 20, attemptTimeout: 1000, onRetry });
    expect(new Set(listeners)).toEqual(new Set([1]));
  });

  it("prints MaxListenersExceededWarning (node:timers/promises on Node 20)", async () => {
    clock.afterFunc(50, () => stop.abort("stop"));
    const { fn } = failing();
    const many = Array.from({ length: 30 }, () => retry(fn, { signal: stop.signal, clock }));
    const ends = await clock.run(() => Promise.allSettled(many));
    expect(ends).toEqual(many.map(() => ({ status: "rejected", reason: "stop" })));
    await clock.step(0);
    expect(warned).not.toHaveBeenCalled();
  });

  it("turns uncapped growth into a hot loop (actor-ts#771, backstage#33993)", async () => {
    const gaps: number[] = [];
    const options = { retries: 200, onRetry: ({ delay }: { delay: number }) => gaps.push(delay) };
    await ended(failing().fn, { backoff: { duration: 1000, factor: 2 }, ...options });
    expect(gaps).toHaveLength(200);
    expect(gaps.every((gap, index) => gap >= (gaps[index - 1] ?? 1000))).toBe(true);
  });

  it("recurses, and keeps every attempt (@lifeomic/attempt)", async () => {
    const depths: number[] = [];
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 1000;
    const fn = ({ attempt }: { attempt: number }) => {
      depths[attempt] = String(new Error("depth").stack).split("\n").length;
      throw REFUSED;
    };
    await clock.run(() => retry(fn, { retries: 500, clock }).catch(() => {}), { turns: 0 });
    Error.stackTraceLimit = limit;
    expect(depths[500]).toBe(depths[50]);
  });

  it("ignores its limit with a delay hook (got#2415)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { retries: 3, delay: () => 10 });
    expect(calls).toEqual([0, 10, 20, 30]);
  });

  it("writes into its options (opossum)", async () => {
    const options = Object.freeze({ backoff: Object.freeze({ duration: 1 }), retries: 2 });
    const { calls, fn } = failing();
    await ended(fn, options);
    await ended(fn, options);
    expect(calls).toHaveLength(6);
  });

  it("lets the process end during a delay (cockatiel#11, unref in retry and p-retry)", async () => {
    const { signal } = stop;
    const retrying = retry(failing().fn, { backoff: { duration: 1000 }, clock, signal });
    await clock.step(0);
    expect(clock.pending()).toEqual([{ label: "backoff", deadline: start + 1000, ref: true }]);
    stop.abort(REFUSED);
    await expect(retrying).rejects.toBe(REFUSED);
  });

  it("measures with the wall clock, which jumps (retry, opossum, effect)", async () => {
    const { calls, fn } = failing();
    clock.afterFunc(50, () => clock.setSystemTime(clock.now() + 1e9));
    clock.afterFunc(150, () => clock.setSystemTime(clock.now() - 2e9));
    await ended(fn, { maxElapsed: 700 });
    expect(calls).toEqual([0, 100, 300, 700]);
  });
});

describe("poll never", () => {
  it("leaves a listener on the signal for each call (p-wait-for 6)", async () => {
    const { signal } = stop;
    const most: number[] = [];
    const fn = ({ attempt }: { attempt: number }) => {
      most.push(abortListeners(signal));
      return attempt === 200;
    };
    await clock.run(() => poll(fn, { signal, clock }));
    expect(Math.max(...most)).toBe(1);
    expect(abortListeners(signal)).toBe(0);
  });

  it("has a timeout that fake timers do not move (p-wait-for, AbortSignal.timeout)", async () => {
    const sinon = install({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    try {
      const end = poll(() => false, { timeout: 5000 }).catch((reason: unknown) => reason);
      await sinon.tickAsync(5000);
      expect(isTimeoutError(await end)).toBe(true);
      expect(sinon.countTimers()).toBe(0);
    } finally {
      sinon.uninstall();
    }
  });
});
