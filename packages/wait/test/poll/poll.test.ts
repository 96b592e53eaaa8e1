import {
  type Attempt,
  isTimeoutError,
  type PollOptions,
  poll,
  RetryAfterError,
  TerminalError,
  TimeoutError,
} from "@holdfast/wait";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { FAILURES, REASONS, stageOn } from "../stage.ts";

const TERMINAL = new TerminalError("no such pod");

describe.each(Object.entries(harnesses))("poll on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;
  let expectNothingLeft: () => void;

  beforeEach(() => {
    ({ harness, stop, timeline, expectNothingLeft } = stageOn(open));
  });

  /** Starts a poll and notes its end, with its value if any. */
  function start(fn: (attempt: Attempt) => unknown, options: PollOptions = {}): Promise<void> {
    const { clock } = harness;
    const { signal } = stop;
    const end = poll(fn, { backoff: { duration: 100 }, clock, signal, ...options });
    return timeline.noteEnd(end.then((value) => timeline.note(["value", value])));
  }

  const REFUSED = new Error("refused");
  const never = () => {
    timeline.note("call");
    return false;
  };
  const stuck = () => {
    timeline.note("call");
    return new Promise<never>(() => {});
  };

  const calls = () => timeline.events.filter(([, event]) => event === "call").map(([at]) => at);

  /** The error of the poll, and the instant of the rejection. */
  function rejection(): [at: number, error: unknown] {
    const [at, event] = timeline.events.at(-1) as [number, [string, unknown]];
    expect(event[0]).toBe("rejected");
    return [at, event[1]];
  }

  it.each([
    [true],
    ["a value"],
    [1],
    [{}],
    [[]],
    [new Error("a value")],
    [Promise.resolve("late")],
  ])("resolves with %s at once, and arms no timer", async (value) => {
    const end = start(() => value);
    expect(harness.waiters()).toBe(0);
    await end;
    expect(timeline.events).toEqual([
      [0, ["value", await value]],
      [0, "resolved"],
    ]);
  });

  it("continues while fn returns a falsy value", async () => {
    const values = [false, 0, -0, 0n, Number.NaN, "", null, undefined];
    const left = [...values, ...values.map((value) => Promise.resolve(value)), "done"];
    const fn = () => {
      timeline.note("call");
      return left.shift();
    };
    const end = start(fn);
    await harness.step(1600);
    await end;
    expect(calls()).toEqual(Array.from({ length: 17 }, (_, index) => index * 100));
    expect(timeline.events.at(-2)).toEqual([1600, ["value", "done"]]);
  });

  it("waits from the end of a call to the next, with any strategy", async () => {
    const fn = async ({ attempt }: Attempt) => {
      timeline.note("call");
      await harness.clock.sleep(10);
      return attempt === 4;
    };
    const end = start(fn, { backoff: { duration: 100, factor: 2, cap: 200 } });
    await harness.step(1000);
    await end;
    expect(calls()).toEqual([0, 110, 320, 530]);
  });

  it("passes attempt and signal to fn, and nothing else", async () => {
    const fn = vi.fn((..._: unknown[]) => fn.mock.calls.length === 3);
    const end = start(fn as (attempt: Attempt) => unknown);
    await harness.step(200);
    await end;
    const { signal } = stop;
    expect(fn.mock.calls).toEqual([1, 2, 3].map((attempt) => [{ attempt, signal }]));
    for (const [received] of fn.mock.calls) expect((received as Attempt).signal).toBe(signal);
  });

  it("waits for a constant interval, and takes no backoff beside it", async () => {
    const end = start(never, { backoff: undefined, interval: 250, timeout: 1_000 });
    await harness.step(1_000);
    await end;
    expect(calls()).toEqual([0, 250, 500, 750]);
    await expect(poll(never, { interval: 1, backoff: { duration: 1 } })).rejects.toThrow(
      new RangeError("options.interval must be undefined beside options.backoff"),
    );
  });

  it("waits for 100 ms, then growing delays of at most 1.1 s by default", async () => {
    const { clock } = harness;
    const { signal } = stop;
    const end = timeline.noteEnd(poll(never, { clock, signal }));
    await harness.step(60_000);
    stop.abort("stop");
    await end;
    const gaps = calls().map((at, index, all) => at - (all[index - 1] ?? 0));
    expect(gaps[1]).toBeGreaterThanOrEqual(100);
    expect(gaps[1]).toBeLessThan(112);
    for (const gap of gaps.slice(10)) {
      expect(gap).toBeGreaterThanOrEqual(1000);
      expect(gap).toBeLessThanOrEqual(1101);
    }
  });

  describe("when fn fails", () => {
    it("rejects with the error, thrown or rejected", async () => {
      for (const failure of FAILURES) {
        const throwing = () => {
          throw failure;
        };
        for (const fn of [throwing, () => Promise.reject(failure)]) {
          timeline = timelineOf(harness.clock);
          await start(fn);
          const [, error] = rejection();
          expect(Object.is(error, failure)).toBe(true);
          expectNothingLeft();
        }
      }
    });

    it("passes the error to onError, awaits it, and continues after the delay", async () => {
      const onError = vi.fn(() => harness.clock.sleep(5));
      const left = [...FAILURES];
      const fn = () => {
        timeline.note("call");
        if (left.length === 0) return "done";
        throw left.shift();
      };
      const end = start(fn, { onError });
      await harness.step(1000);
      await end;
      expect(onError.mock.calls).toEqual(FAILURES.map((failure) => [failure]));
      expect(calls()).toEqual([0, 105, 210, 315, 420, 525, 630]);
    });

    it("rejects with an error of onError, thrown or rejected", async () => {
      for (const failure of FAILURES) {
        const throwing = () => {
          throw failure;
        };
        for (const onError of [throwing, () => Promise.reject(failure)]) {
          timeline = timelineOf(harness.clock);
          await start(() => Promise.reject(REFUSED), { onError });
          expect(timeline.events).toEqual([[0, ["rejected", failure]]]);
          expectNothingLeft();
        }
      }
    });

    it.each([true, false])("rejects with a TerminalError itself (onError: %s)", async (given) => {
      const onError = vi.fn();
      const fn = () => {
        throw TERMINAL;
      };
      await start(fn, given ? { onError } : {});
      expect(rejection()).toEqual([0, TERMINAL]);
      expect(rejection()[1]).toBe(TERMINAL);
      expect(onError).not.toHaveBeenCalled();
    });

    it("waits after a RetryAfterError and continues, without calling onError", async () => {
      const onError = vi.fn();
      const called: number[] = [];
      const fn = ({ attempt }: Attempt) => {
        called.push(timeline.elapsed());
        if (attempt === 2) throw new Error("busy", { cause: new RetryAfterError(5_000) });
        return attempt === 4;
      };
      const end = start(fn, { onError, backoff: { duration: 100, factor: 2 } });
      await harness.step(10_000);
      await end;
      expect(called).toEqual([0, 100, 5_100, 5_500]);
      expect(onError).not.toHaveBeenCalled();
    });

    it("stays within the timeout after a RetryAfterError", async () => {
      const fn = () => {
        throw new RetryAfterError(5_000);
      };
      const end = start(fn, { timeout: 1_000 });
      await harness.step(1_000);
      await end;
      expect(rejection()).toEqual([1_000, new TimeoutError(1_000)]);
      expect((rejection()[1] as Error).cause).toEqual(new RetryAfterError(5_000));
    });

    it("rejects at once with a RetryAfterError that names Infinity", async () => {
      const never = new RetryAfterError(Number.POSITIVE_INFINITY);
      await start(() => Promise.reject(never));
      expect(rejection()).toEqual([0, never]);
    });

    it("rejects with a RangeError if the strategy returns NaN", async () => {
      await start(never, { backoff: { delayFunc: () => () => Number.NaN } });
      const error = new RangeError("delay must be a number of milliseconds, got NaN");
      expect(timeline.events.at(-1)).toEqual([0, ["rejected", error]]);
    });
  });

  describe("with a timeout", () => {
    it.each([
      ["during a delay", 250, never, [0, 100, 200]],
      ["in the tick of its timer", 200, never, [0, 100]],
      ["during a call that never ends", 250, stuck, [0]],
    ])("rejects at once %s", async (_, timeout, fn, called) => {
      const end = start(fn, { timeout });
      await harness.step(timeout - 1);
      expect(timeline.events.at(-1)?.[1]).toBe("call");
      await harness.step(1);
      await end;
      expect(rejection()[0]).toBe(timeout);
      expect(isTimeoutError(rejection()[1])).toBe(true);
      expect((rejection()[1] as Error).message).toBe(
        fn === stuck
          ? "timed out after 250 ms: call 1 had been running for 250 ms"
          : `timed out after ${timeout} ms`,
      );
      expect(Object.hasOwn(rejection()[1] as Error, "cause")).toBe(false);
      await harness.step(1000);
      expect(calls()).toEqual(called);
    });

    it("uses the last error as the cause", async () => {
      const fn = ({ attempt }: Attempt) => Promise.reject(new Error(`failure ${attempt}`));
      const end = start(fn, { timeout: 250, onError: () => {} });
      await harness.step(250);
      await end;
      const [, error] = rejection();
      expect((error as Error).cause).toEqual(new Error("failure 3"));
    });

    it("aborts the signal that fn received, with the same error", async () => {
      let own: AbortSignal | undefined;
      const fn = ({ signal }: Attempt) => {
        own = signal;
        return harness.clock.sleep(5000, { signal });
      };
      const end = start(fn, { timeout: 250 });
      await harness.step(250);
      await end;
      expect(own?.reason).toBe(rejection()[1]);
    });

    it("stops its timer after a value, and does not abort the signal of fn", async () => {
      let own: AbortSignal | undefined;
      const fn = ({ signal, attempt }: Attempt) => {
        own = signal;
        return attempt === 2;
      };
      const end = start(fn, { timeout: 101 });
      await harness.step(1000);
      await end;
      expect(timeline.events[0]).toEqual([100, ["value", true]]);
      expect(own?.aborted).toBe(false);
    });
  });

  describe.each([undefined, 5000])(
    "rejects with signal.reason when aborted (timeout: %s)",
    (timeout) => {
      it("before the call, without calling fn", async () => {
        for (const reason of REASONS) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          stop.abort(reason);
          await start(never, { timeout });
          expect(timeline.events).toEqual([[0, ["rejected", stop.signal.reason]]]);
        }
      });

      it.each([
        ["during a call", 50, 1],
        ["during a delay", 150, 1],
        ["during a later call", 250, 2],
      ])("%s, at once", async (_, abortAt, called) => {
        for (const reason of REASONS) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          const fn = () => {
            timeline.note("call");
            return harness.clock.sleep(100);
          };
          const end = start(fn, { timeout });
          harness.clock.afterFunc(abortAt, () => stop.abort(reason));
          await harness.step(abortAt);
          await end;
          expect(timeline.events.at(-1)).toEqual([abortAt, ["rejected", stop.signal.reason]]);
          await harness.step(1000);
          expect(calls()).toHaveLength(called);
          expectNothingLeft();
        }
      });

      it.each(["abort", "timer"])("in the tick of its timer, %s first", async (first) => {
        const armAbort = () => harness.clock.afterFunc(100, () => stop.abort("stop"));
        if (first === "abort") armAbort();
        const end = start(never, { timeout });
        await harness.step(0);
        if (first === "timer") armAbort();
        harness.stepSync(100);
        await end;
        expect(timeline.events).toEqual([
          [0, "call"],
          [100, ["rejected", "stop"]],
        ]);
      });

      it("from within fn, for any outcome of fn", async () => {
        for (const outcome of [() => true, () => false, () => Promise.reject(REFUSED)]) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          await start(
            () => {
              stop.abort("stop");
              return outcome();
            },
            { timeout },
          );
          expect(timeline.events).toEqual([[0, ["rejected", "stop"]]]);
          expectNothingLeft();
        }
      });

      it("and ignores a later outcome of fn", async () => {
        const onError = vi.fn();
        for (const outcome of [() => true, () => false, () => Promise.reject(REFUSED)]) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          const end = start(() => harness.clock.sleep(100).then(outcome), { timeout, onError });
          await harness.step(50);
          stop.abort("stop");
          await end;
          await harness.step(1000);
          expect(timeline.events).toEqual([[50, ["rejected", "stop"]]]);
          expectNothingLeft();
        }
        expect(onError).not.toHaveBeenCalled();
      });

      it("and ignores a second abort", async () => {
        const end = start(never, { timeout });
        await harness.step(50);
        stop.abort("once");
        stop.abort("twice");
        await end;
        expect(timeline.events.at(-1)).toEqual([50, ["rejected", "once"]]);
      });
    },
  );

  it("works without a signal", async () => {
    const { clock } = harness;
    const end = poll(({ attempt }) => attempt === 2, { backoff: { duration: 100 }, clock });
    await harness.step(100);
    expect(await end).toBe(true);
  });
});
