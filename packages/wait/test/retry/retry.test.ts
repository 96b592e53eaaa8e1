import { setImmediate as immediate } from "node:timers/promises";
import { realClock } from "@holdfast/clock";
import {
  type Attempt,
  Backoff,
  isTimeoutError,
  RetryAfterError,
  type RetryContext,
  type RetryOptions,
  retry,
  TerminalError,
} from "@holdfast/wait";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { FAILURES, REASONS, stageOn, unreadable } from "../stage.ts";

describe.each(Object.entries(harnesses))("retry on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;
  let expectNothingLeft: () => void;

  beforeEach(() => {
    ({ harness, stop, timeline, expectNothingLeft } = stageOn(open));
  });

  /** Starts a retry and notes its end, with its value if any. */
  function start<Value>(
    fn: (attempt: Attempt) => Value | PromiseLike<Value>,
    options: RetryOptions = {},
  ): Promise<void> {
    const { clock } = harness;
    const { signal } = stop;
    const end = retry(fn, { backoff: { duration: 100, factor: 2 }, clock, signal, ...options });
    return timeline.noteEnd(end.then((value) => timeline.note(["value", value])));
  }

  const failing = (error: unknown) => () => {
    timeline.note("call");
    throw error;
  };

  const REFUSED = new Error("refused");
  const refused = failing(REFUSED);

  /** The instants of the calls of `fn`. */
  const calls = () => timeline.events.filter(([, event]) => event === "call").map(([at]) => at);

  describe("succeeds", () => {
    it.each([["a value"], [undefined], [null], [0], [new Error("a value")]])(
      "at once with %s, and arms no timer",
      async (value) => {
        const end = start(() => value);
        expect(harness.waiters()).toBe(0);
        await end;
        expect(timeline.events).toEqual([
          [0, ["value", value]],
          [0, "resolved"],
        ]);
      },
    );

    it("calls fn synchronously", () => {
      const fn = vi.fn();
      const end = start(fn);
      expect(fn).toHaveBeenCalledTimes(1);
      return end;
    });

    it("with the value of a thenable", async () => {
      const thenable = {
        // biome-ignore lint/suspicious/noThenProperty: it is a thenable on purpose
        then: (resolve: (value: string) => void) =>
          harness.clock.afterFunc(50, () => resolve("late")),
      };
      const end = start<unknown>(() => thenable);
      await harness.step(50);
      await end;
      expect(timeline.events[0]).toEqual([50, ["value", "late"]]);
    });

    it("after failures, each followed by the next delay", async () => {
      const fn = async ({ attempt }: Attempt) => {
        timeline.note("call");
        await harness.clock.sleep(10);
        if (attempt < 4) throw REFUSED;
        return attempt;
      };
      const end = start(fn);
      await harness.step(2000);
      await end;
      expect(timeline.events).toEqual([
        [0, "call"],
        [110, "call"],
        [320, "call"],
        [730, "call"],
        [740, ["value", 4]],
        [740, "resolved"],
      ]);
    });

    it("after a failure that throws when read", async () => {
      const end = start(({ attempt }) => {
        if (attempt === 1) throw unreadable();
        return "done";
      });
      await harness.step(100);
      await end;
      expect(timeline.events.at(-2)).toEqual([100, ["value", "done"]]);
    });

    it("after failures of any kind, thrown or rejected", async () => {
      const left = FAILURES.flatMap((failure) => [
        () => {
          throw failure;
        },
        () => Promise.reject(failure),
      ]);
      const end = start(() => (left.shift() ?? (() => "done"))(), { retries: 12 });
      await harness.step(1e6);
      await end;
      expect(timeline.events.at(-2)?.[1]).toEqual(["value", "done"]);
    });

    it("and passes attempt and signal to fn, and nothing else", async () => {
      const fn = vi.fn((..._: unknown[]) => {
        if (fn.mock.calls.length < 3) throw REFUSED;
      });
      const end = start(fn);
      await harness.step(300);
      await end;
      const { signal } = stop;
      expect(fn.mock.calls).toEqual([1, 2, 3].map((attempt) => [{ attempt, signal }]));
      for (const [received] of fn.mock.calls) expect((received as Attempt).signal).toBe(signal);
    });

    it("and passes a signal that never aborts without options.signal", async () => {
      const { clock } = harness;
      const end = retry(({ signal }) => signal, { clock });
      expect((await end).aborted).toBe(false);
      expect(abortListeners(await end)).toBe(0);
    });
  });

  describe("its delays", () => {
    it("stay at the cap", async () => {
      const end = start(refused, { backoff: { duration: 100, factor: 2, cap: 250 }, retries: 6 });
      await harness.step(2000);
      await end;
      expect(calls()).toEqual([0, 100, 300, 550, 800, 1050, 1300]);
    });

    it("are those of any strategy", async () => {
      const delays = [5, 0, 20];
      const backoff = { delayFunc: () => () => delays.shift() as number };
      const end = start(refused, { backoff, retries: 3 });
      await harness.step(25);
      await harness.step(5); // a host timer of 0 ms takes 1 ms
      await end;
      expect(calls()).toHaveLength(4);
    });

    it("are independent for calls that share a strategy", async () => {
      const backoff = new Backoff({ duration: 100, factor: 2 });
      const ends = [
        start(refused, { backoff, retries: 2 }),
        start(refused, { backoff, retries: 2 }),
      ];
      await harness.step(300);
      await Promise.all(ends);
      expect(calls()).toEqual([0, 0, 100, 100, 300, 300]);
    });

    it("grow from 100 ms to 30 s with 50 % jitter, 10 times by default", async () => {
      const { clock } = harness;
      const onRetry = vi.fn<(context: RetryContext) => void>();
      const end = timeline.noteEnd(retry(refused, { clock, onRetry }));
      await harness.step(1e6);
      await end;
      const delays = onRetry.mock.calls.map(([{ delay }]) => delay);
      const shape = new Backoff({ duration: 100, factor: 2, cap: 30_000 });
      expect(delays).toHaveLength(10);
      for (const delay of delays) {
        const least = shape.step();
        expect(delay).toBeGreaterThanOrEqual(least);
        expect(delay).toBeLessThan(least * 1.5);
      }
    });

    it.each([2 ** 31 - 1, 2 ** 31, 30 * 86_400_000])("can last %d ms", async (duration) => {
      const end = start(refused, { backoff: { duration }, retries: 1 });
      await harness.step(duration - 1);
      expect(calls()).toEqual([0]);
      await harness.step(1);
      await end;
      expect(calls()).toEqual([0, duration]);
    });

    it("can be infinite, and can still be aborted", async () => {
      const backoff = { delayFunc: () => () => Number.POSITIVE_INFINITY };
      const end = start(refused, { backoff });
      await harness.step(2 ** 40);
      stop.abort("stop");
      await end;
      expect(timeline.events).toEqual([
        [0, "call"],
        [2 ** 40, ["rejected", "stop"]],
      ]);
    });

    it("reject the call with a RangeError if the strategy returns NaN", async () => {
      const backoff = { delayFunc: () => () => Number.NaN };
      await start(refused, { backoff });
      const error = new RangeError("delay must be a number of milliseconds, got NaN");
      expect(timeline.events).toEqual([
        [0, "call"],
        [0, ["rejected", error]],
      ]);
    });
  });

  describe("gives up", () => {
    it.each([0, 1, 2, 5])("after %d retries, without another delay", async (retries) => {
      const end = start(refused, { retries });
      const last = 100 * (2 ** retries - 1);
      await harness.step(last);
      await end;
      expect(calls()).toHaveLength(retries + 1);
      expect(timeline.events.at(-1)).toEqual([last, ["rejected", REFUSED]]);
    });

    it("with the error itself, of any type", async () => {
      for (const failure of FAILURES) {
        const caught = retry(failing(failure), { retries: 0, clock: harness.clock });
        expect(await caught.catch((error: unknown) => [error])).toEqual([failure]);
        expect(Object.is((await caught.catch((error: unknown) => [error]))[0], failure)).toBe(true);
      }
    });

    it("with the last error", async () => {
      const fn = ({ attempt }: Attempt) => Promise.reject(new Error(`failure ${attempt}`));
      const end = start(fn, { retries: 2 });
      await harness.step(300);
      await end;
      expect(timeline.events).toEqual([[300, ["rejected", new Error("failure 3")]]]);
    });

    it.each([
      { maxElapsed: 0, ends: [0] },
      { maxElapsed: 99, ends: [0] },
      { maxElapsed: 100, ends: [0, 100] },
      { maxElapsed: 299, ends: [0, 100] },
      { maxElapsed: 300, ends: [0, 100, 300] },
    ])("if the next attempt would start after $maxElapsed ms", async ({ maxElapsed, ends }) => {
      const end = start(refused, { maxElapsed });
      await harness.step(1000);
      await end;
      expect(timeline.events).toEqual([
        ...ends.map((at) => [at, "call"]),
        [ends.at(-1), ["rejected", REFUSED]],
      ]);
    });

    it("by maxElapsed alone without retries", async () => {
      const end = start(refused, { backoff: { duration: 1 }, maxElapsed: 50 });
      await harness.step(50);
      await end;
      expect(calls()).toHaveLength(51);
    });

    it("at the first limit reached", async () => {
      await Promise.all([
        start(refused, { retries: 1, maxElapsed: 1e6 }),
        start(refused, { retries: 1e6, maxElapsed: 150 }),
        harness.step(100),
      ]);
      const ends = timeline.events.filter(([, event]) => event !== "call");
      expect(ends).toEqual(Array(2).fill([100, ["rejected", REFUSED]]));
    });

    it("including the time of the attempts", async () => {
      const fn = async () => {
        await harness.clock.sleep(1000);
        throw REFUSED;
      };
      const end = start(fn, { maxElapsed: 1099 });
      await harness.step(1000);
      await end;
      expect(timeline.events).toEqual([[1000, ["rejected", REFUSED]]]);
    });

    it("at once on a TerminalError, or an error caused by one, with the error itself", async () => {
      const terminal = new TerminalError("no such page");
      const wrapped = new Error("page", { cause: new Error("fetch", { cause: terminal }) });
      for (const failure of [terminal, wrapped]) {
        timeline = timelineOf(harness.clock);
        const shouldRetry = vi.fn(() => true);
        await start(failing(failure), { shouldRetry });
        expect(timeline.events).toEqual([
          [0, "call"],
          [0, ["rejected", failure]],
        ]);
        expect(shouldRetry).not.toHaveBeenCalled();
      }
    });
  });

  describe("after a RetryAfterError", () => {
    const busy = (...delays: (number | undefined)[]) => {
      const rest = [...delays];
      return () => {
        timeline.note("call");
        const after = rest.shift();
        if (after === undefined) throw REFUSED;
        throw new Error("busy", { cause: new RetryAfterError(after) });
      };
    };

    it("waits as long as it names, past the cap, and still advances the backoff", async () => {
      const backoff = { duration: 100, factor: 2, cap: 300 };
      const end = start(busy(undefined, 5_000, undefined, 10), { backoff, retries: 5 });
      await harness.step(10_000);
      await end;
      expect(calls()).toEqual([0, 100, 5_100, 5_400, 5_700, 6_000]);
    });

    it.each([
      ["Infinity", { after: Number.POSITIVE_INFINITY, maxElapsed: Number.POSITIVE_INFINITY }],
      ["a time past maxElapsed", { after: 1_001, maxElapsed: 1_000 }],
    ])("rejects at once with the error if it names %s", async (_name, { after, maxElapsed }) => {
      await start(busy(after), { maxElapsed });
      expect(timeline.events.map(([at]) => at)).toEqual([0, 0]);
      expect(timeline.events[1]?.[1]).toEqual(["rejected", new Error("busy")]);
    });

    it("waits for a delay that ends at maxElapsed", async () => {
      const end = start(busy(1_000), { maxElapsed: 1_000 });
      await harness.step(1_000);
      await end;
      expect(calls()).toEqual([0, 1_000]);
    });

    it("passes its delay to the delay hook, which may replace even Infinity", async () => {
      const planned: number[] = [];
      const delay = (_context: RetryContext, next: number) => {
        planned.push(next);
        return Math.min(next, 250);
      };
      const fn = busy(7_000, Number.POSITIVE_INFINITY);
      const end = start(fn, { delay, retries: 2 });
      await harness.step(500);
      await end;
      expect(planned).toEqual([7_000, Number.POSITIVE_INFINITY]);
      expect(calls()).toEqual([0, 250, 500]);
    });

    it("ignores a RetryAfterError that is the cause of a TimeoutError", async () => {
      const hangs = async ({ attempt, signal }: Attempt): Promise<void> => {
        timeline.note("call");
        if (attempt === 1) throw new RetryAfterError(9_000);
        await harness.clock.sleep(Number.POSITIVE_INFINITY, { signal });
      };
      const end = start(hangs, { attemptTimeout: 50, retries: 2 });
      await harness.step(10_000);
      await end;
      expect(calls()).toEqual([0, 9_000, 9_250]);
    });
  });

  describe("its hooks", () => {
    const context = (attempt: number, delay: number, elapsed: number, retriesLeft: number) => ({
      attempt,
      error: REFUSED,
      delay,
      elapsed,
      retriesLeft,
      signal: stop.signal,
    });

    it("are called in order, with a frozen context, before each delay", async () => {
      const hookCalls: [string, RetryContext, ...unknown[]][] = [];
      const end = start(refused, {
        retries: 2,
        shouldRetry: (...args) => hookCalls.push(["shouldRetry", ...args]) > 0,
        delay: (...args) => hookCalls.push(["delay", ...args]) && args[1] + 7,
        onRetry: (...args) => hookCalls.push(["onRetry", ...args]),
      });
      await harness.step(500);
      await end;
      expect(hookCalls).toEqual([
        ["shouldRetry", context(1, 100, 0, 2)],
        ["delay", context(1, 100, 0, 2), 100],
        ["onRetry", context(1, 107, 0, 2)],
        ["shouldRetry", context(2, 200, 107, 1)],
        ["delay", context(2, 200, 107, 1), 200],
        ["onRetry", context(2, 207, 107, 1)],
      ]);
      expect(hookCalls.every(([, received]) => Object.isFrozen(received))).toBe(true);
      expect(calls()).toEqual([0, 107, 314]);
    });

    it("receive retriesLeft of Infinity", async () => {
      const onRetry = vi.fn<(context: RetryContext) => void>();
      const end = start(refused, { retries: Number.POSITIVE_INFINITY, onRetry });
      await harness.step(1000);
      stop.abort();
      await end;
      expect(onRetry.mock.calls.map(([{ retriesLeft }]) => retriesLeft)).toEqual(
        Array(4).fill(Number.POSITIVE_INFINITY),
      );
    });

    it.each([
      ["false", () => false],
      ["a promise of false", async () => false],
    ])("end the call if shouldRetry returns %s", async (_, shouldRetry) => {
      const onRetry = vi.fn();
      await start(refused, { shouldRetry, onRetry });
      expect(timeline.events).toEqual([
        [0, "call"],
        [0, ["rejected", REFUSED]],
      ]);
      expect(onRetry).not.toHaveBeenCalled();
    });

    it("can retry some errors only", async () => {
      const fatal = new Error("fatal");
      const end = start(({ attempt }) => failing(attempt < 3 ? REFUSED : fatal)(), {
        shouldRetry: ({ error }) => error !== fatal,
      });
      await harness.step(300);
      await end;
      expect(timeline.events.at(-1)).toEqual([300, ["rejected", fatal]]);
    });

    it("can replace a delay without changing the next ones", async () => {
      const end = start(refused, {
        retries: 3,
        delay: async ({ attempt }, next) => (attempt === 2 ? 5000 : next),
      });
      await harness.step(5500);
      await end;
      expect(calls()).toEqual([0, 100, 5100, 5500]);
    });

    it("cannot return a delay past maxElapsed", async () => {
      const onRetry = vi.fn();
      await start(refused, { maxElapsed: 1000, delay: () => 1001, onRetry });
      expect(timeline.events.at(-1)).toEqual([0, ["rejected", REFUSED]]);
      expect(onRetry).not.toHaveBeenCalled();
    });

    describe("and maxElapsed", () => {
      const noted = () => ({
        shouldRetry: () => timeline.note("shouldRetry") === undefined,
        onRetry: () => timeline.note("onRetry"),
      });
      /** Fails after 50 ms. */
      const slow = () => harness.clock.sleep(50).then(refused);

      it("are not called if the next attempt would start too late", async () => {
        const end = start(slow, { maxElapsed: 149, ...noted() });
        await harness.step(1000);
        await end;
        expect(timeline.events).toEqual([
          [50, "call"],
          [50, ["rejected", REFUSED]],
        ]);
      });

      it("are called if the next attempt starts at maxElapsed", async () => {
        const end = start(slow, { maxElapsed: 150, ...noted() });
        await harness.step(1000);
        await end;
        expect(timeline.events).toEqual([
          [50, "call"],
          [50, "shouldRetry"],
          [50, "onRetry"],
          [200, "call"],
          [200, ["rejected", REFUSED]],
        ]);
      });

      it("are not called after maxElapsed, not even a delay hook that could choose 0", async () => {
        const delay = () => timeline.note("delay") ?? 0;
        const end = start(slow, { maxElapsed: 49, delay, ...noted() });
        await harness.step(1000);
        await end;
        expect(timeline.events).toEqual([
          [50, "call"],
          [50, ["rejected", REFUSED]],
        ]);
      });

      it("are called until maxElapsed with a delay hook, which may choose 0", async () => {
        const delay = () => timeline.note("delay") ?? 0;
        const end = start(slow, { maxElapsed: 50, delay, ...noted() });
        await harness.step(1000);
        await end;
        expect(timeline.events.slice(0, 4)).toEqual([
          [50, "call"],
          [50, "shouldRetry"],
          [50, "delay"],
          [50, "onRetry"],
        ]);
        const rest = timeline.events.slice(4).map(([, event]) => event);
        expect(rest).toEqual(["call", ["rejected", REFUSED]]);
      });

      it("leave the delay hook out after a shouldRetry that took too long", async () => {
        const shouldRetry = () => harness.clock.sleep(50).then(() => true);
        const delay = () => timeline.note("delay") ?? 0;
        const end = start(refused, { maxElapsed: 49, shouldRetry, delay });
        await harness.step(1000);
        await end;
        expect(timeline.events).toEqual([
          [0, "call"],
          [50, ["rejected", REFUSED]],
        ]);
      });
    });

    it("cannot start an attempt past maxElapsed by a slow shouldRetry", async () => {
      const shouldRetry = () => harness.clock.sleep(50).then(() => true);
      const end = start(refused, { maxElapsed: 149, shouldRetry });
      await harness.step(1000);
      await end;
      expect(timeline.events).toEqual([
        [0, "call"],
        [50, ["rejected", REFUSED]],
      ]);
    });

    it("cannot start an attempt past maxElapsed by a slow onRetry", async () => {
      const onRetry = vi.fn(() => harness.clock.sleep(50));
      const end = start(refused, { maxElapsed: 149, onRetry });
      await harness.step(1000);
      await end;
      expect(timeline.events).toEqual([
        [0, "call"],
        [50, ["rejected", REFUSED]],
      ]);
      expect(onRetry).toHaveBeenCalledTimes(1);
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)(
      "can be inherited properties: %s",
      async (hook) => {
        const broken = new Error("broken");
        const options = Object.create({
          clock: harness.clock,
          [hook]: () => Promise.reject(broken),
        });
        await expect(retry(() => Promise.reject(REFUSED), options)).rejects.toBe(broken);
      },
    );

    it("are awaited", async () => {
      const late = <Value>(value: Value) => harness.clock.sleep(50).then(() => value);
      const end = start(refused, {
        retries: 1,
        shouldRetry: () => late(true),
        delay: (_, next) => late(next),
        onRetry: late,
      });
      await harness.step(250);
      await end;
      expect(calls()).toEqual([0, 250]);
    });

    it.each([
      [-1, RangeError, "options.delay() must be a number of at least 0, got -1"],
      [Number.NaN, RangeError, "options.delay() must be a number of at least 0, got NaN"],
      [undefined, TypeError, "options.delay() must be a number of at least 0, got undefined"],
      ["1", TypeError, 'options.delay() must be a number of at least 0, got "1"'],
    ])("cannot return the delay %s", async (delay, type, message) => {
      await start(refused, { delay: () => delay as number });
      expect(timeline.events.at(-1)).toEqual([0, ["rejected", new type(message)]]);
      expect(calls()).toHaveLength(1);
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)(
      "end the call with an error of %s, thrown or rejected",
      async (hook) => {
        for (const failure of [...FAILURES, stop.signal.reason]) {
          for (const fail of [failing(failure), () => Promise.reject(failure)]) {
            timeline = timelineOf(harness.clock);
            const end = start(() => Promise.reject(REFUSED), { [hook]: fail });
            await harness.step(1000);
            await end;
            expect(timeline.events.at(-1)).toEqual([0, ["rejected", failure]]);
            expectNothingLeft();
          }
        }
      },
    );
  });

  describe("rejects with signal.reason when aborted", () => {
    it("before the call, without calling fn", async () => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        stop.abort(reason);
        await start(refused, { onRetry: refused });
        expect(timeline.events).toEqual([[0, ["rejected", stop.signal.reason]]]);
      }
    });

    it.each([
      ["during an attempt", 50, 1],
      ["during a delay", 300, 1],
      ["during a later attempt", 1150, 2],
      ["during a later delay", 1350, 2],
    ])("%s, at once", async (_, abortAt, attempts) => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const fn = async () => {
          timeline.note("call");
          await harness.clock.sleep(100);
          throw REFUSED;
        };
        const end = start(fn, { backoff: { duration: 1000 } });
        harness.clock.afterFunc(abortAt, () => stop.abort(reason));
        await harness.step(abortAt);
        await end;
        expect(timeline.events.at(-1)).toEqual([abortAt, ["rejected", stop.signal.reason]]);
        await harness.step(5000);
        expect(calls()).toHaveLength(attempts);
        expectNothingLeft();
      }
    });

    it("during an attempt that ignores its signal and never settles", async () => {
      const end = start(() => new Promise(() => {}));
      await harness.step(50);
      stop.abort("stop");
      await end;
      expect(timeline.events).toEqual([[50, ["rejected", "stop"]]]);
    });

    it("and ignores a later outcome of the attempt", async () => {
      const outcomes = [
        () => "too late",
        () => {
          throw new Error("too late");
        },
        () => {
          throw new TerminalError("too late");
        },
        () => {
          throw stop.signal.reason;
        },
      ];
      const hook = vi.fn(() => true);
      for (const outcome of outcomes) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const fn = () => harness.clock.sleep(100).then(outcome);
        const end = start(fn, { shouldRetry: hook, onRetry: hook });
        await harness.step(50);
        stop.abort("stop");
        await end;
        await harness.step(1000);
        expect(timeline.events).toEqual([[50, ["rejected", "stop"]]]);
        expectNothingLeft();
      }
      expect(hook).not.toHaveBeenCalled();
    });

    it("during an attempt that fails later, without another delay of the strategy", async () => {
      const next = vi.fn(() => 100);
      const late = () => harness.clock.sleep(50).then(refused);
      const end = start(late, { backoff: { delayFunc: () => next } });
      await harness.step(20);
      stop.abort("stop");
      await end;
      await harness.step(1000);
      expect(next).not.toHaveBeenCalled();
    });

    it.each(["abort", "timer"])("in the tick of its timer, %s first", async (first) => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const armAbort = () => harness.clock.afterFunc(1000, () => stop.abort(reason));
        if (first === "abort") armAbort();
        const end = start(refused, { backoff: { duration: 1000 } });
        await harness.step(0);
        if (first === "timer") armAbort();
        harness.stepSync(1000);
        await end;
        expect(timeline.events).toEqual([
          [0, "call"],
          [1000, ["rejected", stop.signal.reason]],
        ]);
        expectNothingLeft();
      }
    });

    it("in the tick in which the attempt succeeds, if the abort comes first", async () => {
      const succeed = () => harness.clock.sleep(100).then(() => "value");
      harness.clock.afterFunc(100, () => stop.abort("stop"));
      const end = start(succeed);
      harness.stepSync(100);
      await end;
      expect(timeline.events).toEqual([[100, ["rejected", "stop"]]]);
    });

    it("and ignores a second abort", async () => {
      const end = start(refused);
      await harness.step(50);
      stop.abort("once");
      stop.abort("twice");
      await end;
      expect(timeline.events.at(-1)).toEqual([50, ["rejected", "once"]]);
    });

    it("from within fn, for any outcome of fn", async () => {
      for (const outcome of [() => "value", () => Promise.reject(REFUSED), refused]) {
        for (const reason of REASONS) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          await start(() => {
            stop.abort(reason);
            return outcome();
          });
          expect(timeline.events.at(-1)).toEqual([0, ["rejected", stop.signal.reason]]);
          expectNothingLeft();
        }
      }
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)("from within %s", async (hook) => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const hookNames: string[] = [];
        const hooks = {
          shouldRetry: () => hookNames.push("shouldRetry") > 0,
          delay: () => hookNames.push("delay"),
          onRetry: () => hookNames.push("onRetry"),
        };
        const aborting = () => {
          stop.abort(reason);
          return hooks[hook]();
        };
        await start(() => Promise.reject(REFUSED), { ...hooks, [hook]: aborting });
        await harness.step(1000);
        expect(timeline.events).toEqual([[0, ["rejected", stop.signal.reason]]]);
        const rest = { shouldRetry: [], delay: ["shouldRetry"], onRetry: ["shouldRetry", "delay"] };
        expect(hookNames).toEqual([...rest[hook], hook]);
        expectNothingLeft();
      }
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)(
      "during %s, and ignores its later outcome",
      async (hook) => {
        for (const outcome of [() => 1, () => Promise.reject(new Error("too late"))]) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          const slow = () => harness.clock.sleep(100).then(outcome);
          const end = start(refused, { [hook]: slow });
          await harness.step(50);
          stop.abort("stop");
          await end;
          await harness.step(1000);
          expect(timeline.events).toEqual([
            [0, "call"],
            [50, ["rejected", "stop"]],
          ]);
          expectNothingLeft();
        }
      },
    );

    it("in a thousand retries on one signal, with one listener", async () => {
      const ends = Array.from({ length: 1000 }, () => start(() => Promise.reject(REFUSED)));
      await harness.step(50);
      expect([abortListeners(stop.signal), harness.waiters()]).toEqual([1, 1000]);
      stop.abort("stop");
      await Promise.all(ends);
      expect(timeline.events).toEqual(ends.map(() => [50, ["rejected", "stop"]]));
    });
  });

  describe("with an attemptTimeout", () => {
    const stuck = () => {
      timeline.note("call");
      return new Promise<never>(() => {});
    };

    it("ends an attempt that hangs, and starts the next", async () => {
      const end = start(stuck, { attemptTimeout: 1000, retries: 2 });
      await harness.step(3300);
      await end;
      expect(calls()).toEqual([0, 1100, 2300]);
      const [at, [, error]] = timeline.events.at(-1) as [number, [string, unknown]];
      expect(at).toBe(3300);
      expect(error).toMatchObject({ name: "TimeoutError", timeout: 1000 });
      expect(isTimeoutError(error)).toBe(true);
      expect(Object.hasOwn(error as object, "cause")).toBe(false);
    });

    it("aborts the signal of each attempt with its own TimeoutError", async () => {
      const signals: AbortSignal[] = [];
      const errors: unknown[] = [];
      const end = start(
        ({ signal }) => {
          signals.push(signal);
          return harness.clock.sleep(5000, { signal });
        },
        { attemptTimeout: 1000, retries: 1, shouldRetry: ({ error }) => errors.push(error) > 0 },
      );
      await harness.step(2100);
      await end;
      errors.push((timeline.events.at(-1) as [number, [string, unknown]])[1][1]);
      expect(signals.map(({ reason }) => reason)).toEqual(errors);
      expect(signals[0]?.reason).toBe(errors[0]);
      expect(signals[0]).not.toBe(signals[1]);
      expect(errors[0]).not.toBe(errors[1]);
    });

    it("does not affect an attempt that settles in time", async () => {
      const signals: AbortSignal[] = [];
      const fn = async ({ attempt, signal }: Attempt) => {
        signals.push(signal);
        await harness.clock.sleep(999);
        if (attempt < 3) throw REFUSED;
        return attempt;
      };
      const end = start(fn, { attemptTimeout: 1000 });
      await harness.step(10_000);
      await end;
      expect(timeline.events[0]).toEqual([3297, ["value", 3]]);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
      expect(signals.map(abortListeners)).toEqual([0, 0, 0]);
    });

    it("names the last error that was not a timeout as the cause", async () => {
      const causes: unknown[] = [];
      const fn = ({ attempt }: Attempt) => (attempt === 2 ? refused() : stuck());
      const end = start(fn, {
        backoff: { duration: 0 },
        attemptTimeout: 10,
        retries: 4,
        onRetry: ({ error }) => causes.push(error instanceof Error && error.cause),
      });
      await harness.step(100);
      await end;
      const [, error] = (timeline.events.at(-1) as [number, [string, Error]])[1];
      expect([...causes, error.cause]).toEqual([undefined, undefined, REFUSED, REFUSED, REFUSED]);
    });

    it("aborts the signal of the attempt with signal.reason, and does not wait for it", async () => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        let own: AbortSignal | undefined;
        const fn = ({ signal }: Attempt) => {
          own = signal;
          return stuck();
        };
        const end = start(fn, { attemptTimeout: 1000 });
        await harness.step(300);
        stop.abort(reason);
        await end;
        expect(timeline.events.at(-1)).toEqual([300, ["rejected", stop.signal.reason]]);
        expect(own?.aborted).toBe(true);
        expect(Object.is(own?.reason, stop.signal.reason)).toBe(true);
        expectNothingLeft();
      }
    });

    it("treats a synchronous throw as a failed attempt", async () => {
      const end = start(refused, { attemptTimeout: 1000, retries: 1 });
      await harness.step(100);
      await end;
      expect(timeline.events.at(-1)).toEqual([100, ["rejected", REFUSED]]);
    });

    it("ignores a later outcome of an attempt that timed out", async () => {
      const outcomes = [() => "late", () => Promise.reject(new Error("late"))];
      const fn = ({ attempt }: Attempt) =>
        attempt === 3 ? "value" : harness.clock.sleep(1500).then(outcomes[attempt - 1]);
      const end = start(fn, { attemptTimeout: 1000 });
      await harness.step(10_000);
      await end;
      expect(timeline.events[0]).toEqual([2300, ["value", "value"]]);
    });
  });
});

it.each([0, 1])("yields to other timers while attempts fail every %d ms", async (duration) => {
  const stop = new AbortController();
  let calls = 0;
  const fn = async () => {
    calls++;
    throw new Error("refused");
  };
  const end = retry(fn, {
    backoff: { duration },
    retries: Number.POSITIVE_INFINITY,
    signal: stop.signal,
  });
  await immediate();
  await realClock.sleep(20);
  stop.abort("stop");
  expect(await end.catch((reason: unknown) => reason)).toBe("stop");
  expect(calls).toBeGreaterThan(0);
});
