// Bugs of other libraries. Read the names with their group: "retry never starves the event loop".
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  every,
  isTimeoutError,
  poll,
  type RetryOptions,
  retry,
  TerminalError,
} from "@holdfast/wait";
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
function failing(failure: unknown = REFUSED) {
  const calls: number[] = [];
  const fn = async () => {
    calls.push(now());
    throw failure;
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
  it("waits for the rest of a delay, calls again or loses the reason after an abort (cockatiel 4)", async () => {
    const { calls, fn } = failing();
    clock.afterFunc(50, () => stop.abort("stop"));
    expect(await ended(fn, { backoff: { duration: 1500 } })).toEqual({ error: "stop", at: 50 });
    await clock.step(5000);
    expect(calls).toEqual([0]);
  });

  it("notices an abort during an attempt only after the delay (p-retry#97)", async () => {
    clock.afterFunc(50, () => stop.abort("stop"));
    const slow = () => clock.sleep(100).then(() => Promise.reject(REFUSED));
    expect(await ended(slow)).toEqual({ error: "stop", at: 50 });
    await clock.step(5000);
  });

  it("hangs if the signal has aborted already (p-queue#241)", async () => {
    stop.abort("stop");
    expect(await ended(failing().fn)).toEqual({ error: "stop", at: 0 });
  });

  it("replaces the reason of an abort (cockatiel#99, effect, node:timers/promises)", async () => {
    const reason = { code: "SIGTERM" };
    clock.afterFunc(50, () => stop.abort(reason));
    expect((await ended(failing().fn)) as object).toHaveProperty("error", reason);
  });

  it("leaves a listener on the signal (p-retry#71)", async () => {
    for (let call = 0; call < 50; call++) {
      await ended(() => "value");
      await ended(failing().fn, { retries: 2 });
    }
    expect(abortListeners(stop.signal)).toBe(0);
  });

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

  it("turns a delay of 30 days into a hot loop (10 of 12 rivals)", async () => {
    const month = 30 * 86_400_000;
    const { calls, fn } = failing();
    await ended(fn, { backoff: { duration: month }, retries: 2 });
    expect(calls).toEqual([0, month, 2 * month]);
  });

  it("turns uncapped growth into a hot loop (actor-ts#771, backstage#33993)", async () => {
    const gaps: number[] = [];
    const options = { retries: 200, onRetry: ({ delay }: { delay: number }) => gaps.push(delay) };
    await ended(failing().fn, { backoff: { duration: 1000, factor: 2 }, ...options });
    expect(gaps).toHaveLength(200);
    expect(gaps.every((gap, index) => gap >= (gaps[index - 1] ?? 1000))).toBe(true);
  });

  it("turns a cap of undefined into NaN, and that into a hot loop (node-retry#90)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { backoff: { duration: 100, factor: 2, cap: undefined }, retries: 3 });
    expect(calls).toEqual([0, 100, 300, 700]);
  });

  it("loses all jitter at the cap (retry, async-retry, p-retry)", async () => {
    const gaps = new Set<number>();
    const backoff = { duration: 5000, factor: 2, cap: 5000, jitter: 0.5 };
    await ended(failing().fn, { backoff, retries: 20, onRetry: ({ delay }) => gaps.add(delay) });
    expect(gaps.size).toBe(20);
    for (const gap of gaps) expect(gap >= 5000 && gap < 7500).toBe(true);
  });

  it("ignores the factor (cockatiel's exponent)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { backoff: { duration: 100, factor: 3 }, retries: 4 });
    expect(calls).toEqual([0, 100, 400, 1300, 4000]);
  });

  it("raises the delay to a power (ts-retry-promise)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { retries: 4 });
    expect(calls).toEqual([0, 100, 300, 700, 1500]);
  });

  it("counts the first call as a retry (node-retry#21)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { retries: 3 });
    expect(calls).toHaveLength(4);
  });

  it("sleeps once more after the last failure (ts-retry-promise)", async () => {
    expect(await ended(failing().fn, { retries: 2 })).toEqual({ error: REFUSED, at: 300 });
  });

  it("wraps the last error (ts-retry-promise)", async () => {
    const { error } = (await ended(failing().fn, { retries: 1 })) as { error: unknown };
    expect(error).toBe(REFUSED);
  });

  it("gives up on a synchronous throw (@lifeomic/attempt)", async () => {
    const fn = vi.fn(() => {
      throw REFUSED;
    });
    await ended(fn, { retries: 2 });
    expect(fn).toHaveBeenCalledTimes(3);
  });

  it("gives up on a value that is not an Error, or on a TypeError (p-retry#51)", async () => {
    for (const failure of ["a string", undefined, new TypeError("NetworkError")]) {
      const fn = vi.fn(() => Promise.reject(failure));
      expect(await ended(fn, { retries: 2 })).toMatchObject({ error: failure });
      expect(fn).toHaveBeenCalledTimes(3);
    }
  });

  it("crashes with retries of Infinity (node-retry#84)", async () => {
    let calls = 0;
    const fn = () => (++calls === 3 ? "value" : Promise.reject(REFUSED));
    const retries = Number.POSITIVE_INFINITY;
    expect(await ended(fn, { retries })).toEqual({ value: "value", at: 300 });
  });

  it("starves the event loop with delays of 0 (p-retry, @lifeomic/attempt)", async () => {
    const shutdown = new AbortController();
    const { fn } = failing();
    const end = retry(fn, {
      backoff: { duration: 0 },
      retries: Number.POSITIVE_INFINITY,
      signal: shutdown.signal,
    });
    realClock.afterFunc(20, () => shutdown.abort("stop"));
    expect(await end.catch((reason: unknown) => reason)).toBe("stop");
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

  it("turns a hook that throws into an unhandled rejection (async-retry)", async () => {
    const bug = new Error("bug");
    for (const hook of ["shouldRetry", "delay", "onRetry"]) {
      const { calls, fn } = failing();
      const throwing = () => {
        throw bug;
      };
      expect(await ended(fn, { [hook]: throwing })).toMatchObject({ error: bug });
      expect(await ended(fn, { [hook]: async () => throwing() })).toMatchObject({ error: bug });
      await clock.step(5000);
      expect(calls).toHaveLength(2);
    }
  });

  it("continues in the background after an abort (async-retry#69)", async () => {
    const terminal = new TerminalError("refused");
    const { calls, fn } = failing(terminal);
    expect(await ended(fn)).toEqual({ error: terminal, at: 0 });
    await clock.step(60_000);
    expect(calls).toEqual([0]);
  });

  it("leaves a rejection unhandled when an attempt times out (attempt#48)", async () => {
    const late = () => clock.sleep(500).then(() => Promise.reject(REFUSED));
    const { error } = (await ended(late, { attemptTimeout: 100, retries: 1 })) as {
      error: unknown;
    };
    expect(isTimeoutError(error)).toBe(true);
    await clock.step(5000);
  });

  it("has a signal that stays aborted after the first timeout (opossum#861)", async () => {
    const aborted: boolean[] = [];
    const stuck = ({ signal }: { signal: AbortSignal }) => {
      aborted.push(signal.aborted);
      return clock.sleep(500, { signal });
    };
    const options = { attemptTimeout: 100, retries: 2, clock };
    await clock.run(() => retry(stuck, options).catch(() => {}));
    expect(aborted).toEqual([false, false, false]);
  });

  it("ignores its limit with a delay hook (got#2415)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { retries: 3, delay: () => 10 });
    expect(calls).toEqual([0, 10, 20, 30]);
  });

  it("treats a Retry-After of 0 as never (ky#390)", async () => {
    const { calls, fn } = failing();
    await ended(fn, { retries: 2, delay: () => 0 });
    expect(calls).toEqual([0, 0, 0]);
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

  it("continues after the timeout (p-wait-for#6, #27)", async () => {
    let calls = 0;
    const fn = () => ++calls < 0;
    const options = { backoff: { duration: 100 }, timeout: 250, clock };
    const error = await clock.run(() => poll(fn, options).catch((reason: unknown) => reason));
    expect([isTimeoutError(error), now(), calls]).toEqual([true, 250, 3]);
    await clock.step(5000);
    expect(calls).toBe(3);
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

  it("uses its clock for the first delay only (backoff-rxjs)", async () => {
    const seen: number[] = [];
    const fn = () => seen.push(now()) === 4;
    await clock.run(() => poll(fn, { backoff: { duration: 1000 }, clock }));
    expect(seen).toEqual([0, 1000, 2000, 3000]);
  });
});

describe("every never", () => {
  /** The starts of bodies with the given durations. */
  async function startsOf(durations: readonly number[]) {
    const starts: number[] = [];
    await clock.run(async () => {
      for await (const _ of every(1000, { immediate: true, clock })) {
        const duration = durations[starts.push(now()) - 1];
        if (duration === undefined) break;
        await clock.sleep(duration);
      }
    });
    return starts;
  }

  it("runs twice after a body of 999 or 1001 ms (effect-smol#1461)", async () => {
    expect(await startsOf([999, 999, 999])).toEqual([0, 1000, 2000, 3000]);
    start = clock.monotonic();
    expect(await startsOf([1001, 999, 0])).toEqual([0, 1001, 2000, 3000]);
  });

  it("waits after an overrun instead of running at once (effect-smol#1831)", async () => {
    expect(await startsOf([2500, 0])).toEqual([0, 2500, 3000]);
  });

  it("drifts (denoland/std#7310)", async () => {
    expect(await startsOf(Array(50).fill(7))).toEqual(
      Array.from({ length: 51 }, (_, index) => index * 1000),
    );
  });
});
