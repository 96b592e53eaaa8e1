import { AsyncLocalStorage } from "node:async_hooks";
import { FakeClock } from "@holdfast/clock/testing";
import {
  type BackoffManager,
  backoffUntil,
  ExponentialBackoffManager,
  JitteredBackoffManager,
} from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, type TimelineEvent, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { REASONS, stageOn } from "../stage.ts";

describe.each(Object.entries(harnesses))("backoffUntil on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;
  let expectNothingLeft: () => void;

  beforeEach(() => {
    ({ harness, stop, timeline, expectNothingLeft } = stageOn(open));
  });

  const every = (duration: number): BackoffManager =>
    new JitteredBackoffManager({ duration, clock: harness.clock });

  const note = (event: string) => () => timeline.note(event);

  /** Work of this duration that notes its start and its end. */
  const work = (...durations: readonly number[]) => {
    let call = 0;
    return async () => {
      timeline.note("run");
      await harness.clock.sleep(durations[Math.min(call++, durations.length - 1)] as number);
      timeline.note("ran");
    };
  };

  interface LoopCase {
    readonly manager: BackoffManager;
    readonly sliding?: boolean;
    readonly onError?: (error: unknown) => unknown;
  }

  function start(f: (signal: AbortSignal) => unknown, options: LoopCase): Promise<void> {
    const { manager, sliding = true, onError } = options;
    const loop = backoffUntil(f, manager, sliding, stop.signal, { onError });
    return timeline.noteEnd(loop);
  }

  describe("runs", () => {
    it.each([true, false])("at once, then after each delay (sliding: %s)", async (sliding) => {
      const options = { duration: 100, factor: 2, clock: harness.clock };
      const end = start(note("run"), { manager: new ExponentialBackoffManager(options), sliding });
      await harness.step(750);
      stop.abort();
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [100, "run"],
        [300, "run"],
        [700, "run"],
        [750, "resolved"],
      ]);
    });

    it("not a millisecond before the end of a delay", async () => {
      const end = start(note("run"), { manager: every(1000) });
      await harness.step(999);
      expect(timeline.events).toEqual([[0, "run"]]);
      await harness.step(1);
      expect(timeline.events).toEqual([
        [0, "run"],
        [1000, "run"],
      ]);
      stop.abort();
      await end;
    });

    interface PeriodCase {
      readonly sliding: boolean;
      /** Duration of each call; repeats the last one. */
      readonly durations: readonly number[];
      readonly starts: readonly number[];
    }

    it.each(
      Object.entries<PeriodCase>({
        "a period after the end of the previous call, when sliding": {
          sliding: true,
          durations: [300],
          starts: [0, 1300, 2600, 3900],
        },
        "a period after the start of the previous call, when not sliding": {
          sliding: false,
          durations: [300],
          starts: [0, 1000, 2000, 3000],
        },
        "once after a call of a period less a millisecond": {
          sliding: false,
          durations: [999],
          starts: [0, 1000, 2000, 3000],
        },
        "once after a call of exactly a period": {
          sliding: false,
          durations: [1000],
          starts: [0, 1000, 2000, 3000],
        },
        "once after a call of a period and a millisecond": {
          sliding: false,
          durations: [1001],
          starts: [0, 1001, 2002, 3003],
        },
        "at once after an overrun, and skips missed calls": {
          sliding: false,
          durations: [2500, 0],
          starts: [0, 2500, 3500],
        },
        "a period after an overrun, when sliding": {
          sliding: true,
          durations: [2500, 0],
          starts: [0, 3500],
        },
      }),
    )("%s", async (_, { sliding, durations, starts }) => {
      const end = start(work(...durations), { manager: every(1000), sliding });
      await harness.step(3950);
      stop.abort();
      await harness.step(1000);
      await end;
      const seen = timeline.events.filter(([, event]) => event === "run").map(([at]) => at);
      expect(seen).toEqual(starts);
    });

    it("one call at a time", async () => {
      let running = 0;
      let most = 0;
      const f = async () => {
        most = Math.max(most, ++running);
        await harness.clock.sleep(35);
        running--;
      };
      const end = start(f, { manager: every(10), sliding: false });
      await harness.step(1000);
      stop.abort();
      await harness.step(35);
      await end;
      expect(most).toBe(1);
    });

    it("with the signal as the only argument, and waits for a thenable", async () => {
      const f = vi.fn((..._: unknown[]) => ({
        // biome-ignore lint/suspicious/noThenProperty: it is a thenable on purpose
        then: (resolve: () => void) => harness.clock.afterFunc(50, resolve),
      }));
      const end = start(f, { manager: every(100) });
      await harness.step(160);
      stop.abort();
      await harness.step(40);
      await end;
      expect(f.mock.calls).toEqual([[stop.signal], [stop.signal]]);
      expect(f.mock.calls[0]?.[0]).toBe(stop.signal);
      expect(timeline.events).toEqual([[200, "resolved"]]);
    });

    it("after any return value", async () => {
      const returned = [false, null, 0, Promise.resolve(false), new Error("a value")];
      const left = [...returned];
      const end = start(
        () => {
          timeline.note("run");
          return left.shift();
        },
        { manager: every(100) },
      );
      await harness.step(450);
      stop.abort();
      await end;
      expect(timeline.events).toHaveLength(returned.length + 1);
    });

    it.each([2 ** 31 - 1, 2 ** 31, 1e12])("after exactly %d ms", async (delay) => {
      const end = start(note("run"), { manager: every(delay) });
      await harness.step(delay - 1);
      expect(timeline.events).toEqual([[0, "run"]]);
      await harness.step(1);
      expect(timeline.events).toHaveLength(2);
      stop.abort();
      await end;
    });

    it("never again after an infinite delay, and can still be aborted", async () => {
      const strategy = { delayFunc: () => () => Number.POSITIVE_INFINITY };
      const end = start(note("run"), {
        manager: backoffManager(strategy, { clock: harness.clock }),
      });
      await harness.step(2 ** 40);
      stop.abort();
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [2 ** 40, "resolved"],
      ]);
    });
  });

  describe("resolves when its signal aborts", () => {
    it.each([true, false])("before the call, without calling fn (sliding: %s)", async (sliding) => {
      const manager = { backoff: vi.fn() };
      for (const reason of REASONS) {
        stop = new AbortController();
        stop.abort(reason);
        await start(note("run"), { manager, sliding });
      }
      expect(timeline.events).toEqual(REASONS.map(() => [0, "resolved"]));
      expect(manager.backoff).not.toHaveBeenCalled();
    });

    interface AbortCase {
      readonly sliding: boolean;
      /** Duration of each call. */
      readonly work: number;
      readonly abortAt: number;
      readonly events: readonly TimelineEvent[];
    }

    const cases: Record<string, AbortCase> = {
      "during a call": {
        sliding: true,
        work: 300,
        abortAt: 100,
        events: [
          [0, "run"],
          [300, "ran"],
          [300, "resolved"],
        ],
      },
      "during a call, not sliding": {
        sliding: false,
        work: 300,
        abortAt: 100,
        events: [
          [0, "run"],
          [300, "ran"],
          [300, "resolved"],
        ],
      },
      "during a later call": {
        sliding: true,
        work: 300,
        abortAt: 1400,
        events: [
          [0, "run"],
          [300, "ran"],
          [1300, "run"],
          [1600, "ran"],
          [1600, "resolved"],
        ],
      },
      "during a call that outlasts its period": {
        sliding: false,
        work: 1500,
        abortAt: 1200,
        events: [
          [0, "run"],
          [1500, "ran"],
          [1500, "resolved"],
        ],
      },
      "during a delay": {
        sliding: true,
        work: 300,
        abortAt: 700,
        events: [
          [0, "run"],
          [300, "ran"],
          [700, "resolved"],
        ],
      },
      "during a delay, not sliding": {
        sliding: false,
        work: 300,
        abortAt: 700,
        events: [
          [0, "run"],
          [300, "ran"],
          [700, "resolved"],
        ],
      },
    };

    it.each(Object.entries(cases))(
      "%s",
      async (_, { sliding, work: duration, abortAt, events }) => {
        for (const reason of REASONS) {
          stop = new AbortController();
          timeline = timelineOf(harness.clock);
          const end = start(work(duration), { manager: every(1000), sliding });
          harness.clock.afterFunc(abortAt, () => stop.abort(reason));
          await harness.step(3000);
          await end;
          expect(timeline.events).toEqual(events);
          expectNothingLeft();
        }
      },
    );

    it.each([
      { sliding: true, first: "abort" },
      { sliding: true, first: "timer" },
      { sliding: false, first: "abort" },
      { sliding: false, first: "timer" },
    ])("in the tick of its timer, $first first (sliding: $sliding)", async ({ sliding, first }) => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const armAbort = () => harness.clock.afterFunc(1000, () => stop.abort(reason));
        if (first === "abort") armAbort();
        const end = start(note("run"), { manager: every(1000), sliding });
        await harness.step(0);
        if (first === "timer") armAbort();
        harness.stepSync(1000);
        await end;
        expect(timeline.events).toEqual([
          [0, "run"],
          [1000, "resolved"],
        ]);
        expectNothingLeft();
      }
    });

    it("twice", async () => {
      const end = start(note("run"), { manager: every(1000) });
      await harness.step(500);
      stop.abort("once");
      stop.abort("twice");
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [500, "resolved"],
      ]);
    });

    it.each([true, false])("from within a call (sliding: %s)", async (sliding) => {
      const f = () => {
        timeline.note("run");
        stop.abort();
      };
      await start(f, { manager: every(30_000), sliding });
      expect(timeline.events).toEqual([
        [0, "run"],
        [0, "resolved"],
      ]);
    });

    it.each([true, false])("between a call and its delay (sliding: %s)", async (sliding) => {
      const manager = every(30_000);
      const aborting: BackoffManager = {
        backoff() {
          stop.abort();
          return manager.backoff();
        },
      };
      await start(note("run"), { manager: aborting, sliding });
      expect(timeline.events).toEqual([
        [0, "run"],
        [0, "resolved"],
      ]);
    });

    it("a thousand loops on one signal, with one listener", async () => {
      const ends = Array.from({ length: 1000 }, () => start(() => {}, { manager: every(1000) }));
      await harness.step(0);
      expect(abortListeners(stop.signal)).toBe(1);
      await harness.step(2500);
      expect([abortListeners(stop.signal), harness.waiters()]).toEqual([1, 1000]);
      stop.abort();
      await Promise.all(ends);
      expect(timeline.events).toEqual(ends.map(() => [2500, "resolved"]));
    });
  });

  describe("when a call fails", () => {
    const FAILURES = [new Error("refused"), "refused", 0, null, undefined];
    const how = {
      throws: (failure: unknown) => () => {
        timeline.note("run");
        throw failure;
      },
      rejects: (failure: unknown) => async () => {
        timeline.note("run");
        await harness.clock.sleep(10);
        throw failure;
      },
    };

    it.each([true, false])("rejects with the error it throws (sliding: %s)", async (sliding) => {
      for (const failure of FAILURES) {
        timeline = timelineOf(harness.clock);
        await start(how.throws(failure), { manager: every(1000), sliding });
        expect(timeline.events).toEqual([
          [0, "run"],
          [0, ["rejected", failure]],
        ]);
        expectNothingLeft();
      }
    });

    it.each([true, false])(
      "rejects with the error it rejects with (sliding: %s)",
      async (sliding) => {
        for (const failure of FAILURES) {
          timeline = timelineOf(harness.clock);
          const end = start(how.rejects(failure), { manager: every(1000), sliding });
          await harness.step(10);
          await end;
          expect(timeline.events).toEqual([
            [0, "run"],
            [10, ["rejected", failure]],
          ]);
          expectNothingLeft();
        }
      },
    );

    it("rejects with the same error object after successful calls", async () => {
      const failure = new Error("refused");
      let call = 0;
      const f = () => {
        if (++call === 3) throw failure;
      };
      const loop = backoffUntil(f, every(100), true, stop.signal);
      const reason = loop.catch((error: unknown) => error);
      await harness.step(200);
      expect(await reason).toBe(failure);
    });

    it("passes the error to onError and continues after the normal delay", async () => {
      const onError = vi.fn();
      const failures = [...FAILURES];
      const f = () => {
        timeline.note("run");
        if (failures.length > 0) throw failures.shift();
        stop.abort();
      };
      const options = { duration: 100, factor: 2, clock: harness.clock };
      const end = start(f, { manager: new ExponentialBackoffManager(options), onError });
      await harness.step(10_000);
      await end;
      expect(onError.mock.calls).toEqual(FAILURES.map((failure) => [failure]));
      expect(timeline.events).toEqual([
        [0, "run"],
        [100, "run"],
        [300, "run"],
        [700, "run"],
        [1500, "run"],
        [3100, "run"],
        [3100, "resolved"],
      ]);
    });

    it("passes a rejection to onError, too", async () => {
      const failure = new Error("refused");
      const onError = vi.fn();
      const end = start(how.rejects(failure), { manager: every(100), onError });
      await harness.step(150);
      stop.abort();
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [110, "run"],
        [150, "resolved"],
      ]);
      expect(onError.mock.calls).toEqual([[failure], [failure]]);
    });

    it.each([
      { sliding: true, starts: [0, 350, 700] },
      { sliding: false, starts: [0, 300, 600] },
    ])("waits for onError (sliding: $sliding)", async ({ sliding, starts }) => {
      const end = start(how.throws("refused"), {
        manager: every(300),
        sliding,
        onError: () => harness.clock.sleep(50),
      });
      await harness.step(760);
      stop.abort();
      await end;
      const seen = timeline.events.filter(([, event]) => event === "run").map(([at]) => at);
      expect(seen).toEqual(starts);
    });

    it.each([true, false])(
      "rejects with an error that onError throws (sliding: %s)",
      async (sliding) => {
        for (const worse of FAILURES) {
          timeline = timelineOf(harness.clock);
          const onError = () => {
            throw worse;
          };
          await start(how.throws("refused"), { manager: every(1000), sliding, onError });
          expect(timeline.events).toEqual([
            [0, "run"],
            [0, ["rejected", worse]],
          ]);
          expectNothingLeft();
        }
      },
    );

    it("rejects with an error that onError rejects with", async () => {
      const worse = new Error("worse");
      const end = start(how.throws("refused"), {
        manager: every(1000),
        onError: async () => {
          await harness.clock.sleep(10);
          throw worse;
        },
      });
      await harness.step(10);
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [10, ["rejected", worse]],
      ]);
    });

    it("rejects with an error of undefined if the signal has not aborted", async () => {
      await start(() => Promise.reject(), { manager: every(1000) });
      expect(timeline.events).toEqual([[0, ["rejected", undefined]]]);
    });

    it("rejects with an error of the manager, and leaves no timer", async () => {
      const delays = [100, Number.NaN];
      const strategy = { delayFunc: () => () => delays.shift() as number };
      for (const sliding of [true, false]) {
        delays.splice(0, 2, 100, Number.NaN);
        timeline = timelineOf(harness.clock);
        const end = start(note("run"), {
          manager: backoffManager(strategy, { clock: harness.clock }),
          sliding,
        });
        await harness.step(100);
        await end;
        const nan = new RangeError("delay must be a number of milliseconds, got NaN");
        expect(timeline.events.at(-1)).toEqual([100, ["rejected", nan]]);
        expectNothingLeft();
      }
    });
  });

  describe("when a call fails after the abort", () => {
    /** Fails after this duration, with the reason of the abort or another error. */
    const failing = (failure: (signal: AbortSignal) => unknown) => async (signal: AbortSignal) => {
      timeline.note("run");
      await harness.clock.sleep(300);
      throw failure(signal);
    };

    async function abortDuring(
      f: (signal: AbortSignal) => unknown,
      reason: unknown,
      onError?: (error: unknown) => unknown,
    ): Promise<readonly TimelineEvent[]> {
      stop = new AbortController();
      timeline = timelineOf(harness.clock);
      const end = start(f, { manager: every(1000), ...(onError && { onError }) });
      await harness.step(100);
      stop.abort(reason);
      await harness.step(200);
      await end;
      expectNothingLeft();
      return timeline.events;
    }

    it.each([true, false])(
      "resolves if the error is signal.reason (onError: %s)",
      async (given) => {
        const onError = vi.fn();
        for (const reason of REASONS) {
          const asTold = failing((signal) => signal.reason);
          expect(await abortDuring(asTold, reason, given ? onError : undefined)).toEqual([
            [0, "run"],
            [300, "resolved"],
          ]);
        }
        expect(onError).not.toHaveBeenCalled();
      },
    );

    it("resolves at once if the abort ended a sleep inside", async () => {
      const f = (signal: AbortSignal) => harness.clock.sleep(300, { signal });
      expect(await abortDuring(f, "stop")).toEqual([[100, "resolved"]]);
    });

    it("resolves at once if the abort ended a sleep inside onError", async () => {
      const f = () => Promise.reject("refused");
      const onError = () => harness.clock.sleep(300, { signal: stop.signal });
      for (const reason of REASONS)
        expect(await abortDuring(f, reason, onError)).toEqual([[100, "resolved"]]);
    });

    it("rejects with any other error", async () => {
      for (const reason of REASONS) {
        const other = new Error("stop");
        const events = await abortDuring(
          failing(() => other),
          reason,
        );
        expect(events).toEqual([
          [0, "run"],
          [300, ["rejected", other]],
        ]);
      }
    });

    it("passes any other error to onError and resolves", async () => {
      const other = new Error("disk full");
      const onError = vi.fn();
      const events = await abortDuring(
        failing(() => other),
        "stop",
        onError,
      );
      expect(events).toEqual([
        [0, "run"],
        [300, "resolved"],
      ]);
      expect(onError).toHaveBeenCalledExactlyOnceWith(other);
    });

    it("resolves if onError aborts", async () => {
      const f = () => {
        throw new Error("refused");
      };
      await start(f, { manager: every(30_000), onError: () => stop.abort() });
      expect(timeline.events).toEqual([[0, "resolved"]]);
    });
  });

  describe("beside other code", () => {
    it("may start another loop from within a call", async () => {
      const inner: Promise<void>[] = [];
      const f = () => {
        timeline.note("outer");
        if (inner.length === 0) inner.push(start(note("inner"), { manager: every(40) }));
      };
      const end = start(f, { manager: every(100) });
      await harness.step(110);
      expect(abortListeners(stop.signal)).toBe(1);
      stop.abort();
      await Promise.all([end, ...inner]);
      expect(timeline.events).toEqual([
        [0, "outer"],
        [0, "inner"],
        [40, "inner"],
        [80, "inner"],
        [100, "outer"],
        [110, "resolved"],
        [110, "resolved"],
      ]);
    });

    it("alternates with loops of the same period", async () => {
      const ends = ["a", "b", "c"].map((name) => start(note(name), { manager: every(10) }));
      await harness.step(1000);
      stop.abort();
      await Promise.all(ends);
      const names = timeline.events.slice(0, -3).map(([, name]) => name);
      expect(names.join("")).toBe("abc".repeat(101));
    });

    it("keeps the AsyncLocalStorage context of its caller", async () => {
      const storage = new AsyncLocalStorage<string>();
      const seen: unknown[] = [];
      const loopIn = (context: string) =>
        storage.run(context, () =>
          start(
            async () => {
              seen.push(storage.getStore());
              await harness.clock.sleep(5);
              seen.push(storage.getStore());
            },
            { manager: every(10) },
          ),
        );
      const ends = [loopIn("a"), loopIn("b")];
      await storage.run("driver", () => harness.step(20));
      stop.abort();
      await harness.step(5);
      await Promise.all(ends);
      storage.disable(); // enabled, it would slow every promise of the worker down
      expect(seen).toEqual(["a", "b", "a", "b", "a", "b", "a", "b"]);
    });

    it("leaves an abort listener of the user in place", async () => {
      const heard = vi.fn();
      stop.signal.addEventListener("abort", heard, { once: true });
      const end = start(note("run"), { manager: every(100) });
      await harness.step(150);
      expect(abortListeners(stop.signal)).toBe(2);
      stop.abort();
      await end;
      expect(heard).toHaveBeenCalledTimes(1);
    });
  });
});

it("reads each delay from the manager, also 0 and fractions", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const { events, note } = timelineOf(clock);
  const delays = [0, 0.25, -1, 5];
  let call = 0;
  const strategy = { delayFunc: () => () => delays[call++] ?? 0 };
  const f = () => {
    note("run");
    if (call === 4) stop.abort();
  };
  await clock.run(() => backoffUntil(f, backoffManager(strategy, { clock }), true, stop.signal));
  expect(events).toEqual([
    [0, "run"],
    [0, "run"],
    [0.25, "run"],
    [0.25, "run"],
    [5.25, "run"],
  ]);
});

it("ignores a jump of the wall clock", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const { events, note } = timelineOf(clock);
  const manager = new ExponentialBackoffManager({
    duration: 100,
    factor: 2,
    resetAfter: 1000,
    clock,
  });
  const loop = backoffUntil(() => note("run"), manager, true, stop.signal);
  await clock.step(50);
  clock.setSystemTime(clock.now() + 1e9);
  await clock.step(100);
  clock.setSystemTime(clock.now() - 2e9);
  await clock.step(200);
  stop.abort();
  await loop;
  expect(events).toEqual([
    [0, "run"],
    [100, "run"],
    [300, "run"],
  ]);
});
