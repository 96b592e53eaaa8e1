import { Backoff, isTimeoutError } from "@holdfast/wait";
import { type Condition, delayUntil, type PollUntilOptions, pollUntil } from "@holdfast/wait/go";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { stageOn } from "../stage.ts";

const timedOut = expect.objectContaining({ code: "ERR_WAIT_TIMEOUT" }) as unknown;

describe.each(Object.entries(harnesses))("on %s", (_on, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;

  beforeEach(() => {
    ({ harness, stop, timeline } = stageOn(open));
  });

  /** The same wait in two forms, with equal delays. */
  const family = {
    pollUntil: (condition: Condition, options?: PollUntilOptions) =>
      pollUntil(condition, 1000, options),
    delayUntil: (condition: Condition, options?: PollUntilOptions) =>
      delayUntil(() => 1000, condition, options),
  };

  /** True at its n-th call. */
  const trueAt = (n: number) => {
    let calls = 0;
    return () => {
      timeline.note("call");
      return ++calls === n;
    };
  };

  describe.each(Object.entries(family))("%s", (_name, wait) => {
    const start = (condition: Condition, options?: PollUntilOptions) =>
      timeline.noteEnd(wait(condition, { clock: harness.clock, signal: stop.signal, ...options }));

    it("calls at once, then after each delay, until the condition is true", async () => {
      const end = start(trueAt(3));
      await harness.step(5000);
      await end;
      expect(timeline.events).toEqual([
        [0, "call"],
        [1000, "call"],
        [2000, "call"],
        [2000, "resolved"],
      ]);
    });

    it.each([true, false])(
      "waits for a delay first without immediate (sliding: %s)",
      async (sliding) => {
        const end = start(trueAt(1), { immediate: false, sliding });
        await harness.step(999);
        expect(timeline.events).toEqual([]);
        await harness.step(1);
        await end;
        expect(timeline.events).toEqual([
          [1000, "call"],
          [1000, "resolved"],
        ]);
      },
    );

    it("accepts a promise of the condition", async () => {
      const end = start(async () => {
        await harness.clock.sleep(300);
        return true;
      });
      await harness.step(300);
      await end;
      expect(timeline.events).toEqual([[300, "resolved"]]);
    });

    it.each([undefined, 5000])("works without a signal, with a timeout of %o", async (timeout) => {
      const end = start(trueAt(2), { timeout, signal: undefined });
      await harness.step(1000);
      await end;
      expect(timeline.events.at(-1)).toEqual([1000, "resolved"]);
    });

    it.each([1, 2, 100])("calls until the condition is true: %i times", async (calls) => {
      const end = start(trueAt(calls));
      await harness.step(1000 * calls);
      await end;
      expect(timeline.events).toHaveLength(calls + 1);
    });

    it("rejects with an error of the condition, thrown or rejected", async () => {
      const failure = new Error("refused");
      await start(() => Promise.reject(failure));
      await start(() => {
        throw failure;
      });
      expect(timeline.events).toEqual([
        [0, ["rejected", failure]],
        [0, ["rejected", failure]],
      ]);
    });

    it("continues after errors that onError accepts", async () => {
      const onError = vi.fn();
      const isThird = trueAt(3);
      const condition = () => {
        if (isThird()) return true;
        throw "not yet";
      };
      const end = start(condition, { onError });
      await harness.step(2000);
      await end;
      expect(onError.mock.calls).toEqual([["not yet"], ["not yet"]]);
      expect(timeline.events.at(-1)).toEqual([2000, "resolved"]);
    });

    it("rejects with an error of onError", async () => {
      const failure = new Error("enough");
      const onError = () => {
        throw failure;
      };
      await start(() => Promise.reject("not yet"), { onError });
      expect(timeline.events).toEqual([[0, ["rejected", failure]]]);
    });

    it("rejects with signal.reason at once when aborted during a delay", async () => {
      const reason = new Error("SIGTERM");
      const end = start(() => false);
      await harness.step(1500);
      stop.abort(reason);
      await end;
      expect(timeline.events).toEqual([[1500, ["rejected", reason]]]);
      expect(harness.waiters()).toBe(0);
    });

    it("waits for the running call when aborted", async () => {
      const condition = async () => {
        await harness.clock.sleep(800);
        return false;
      };
      const end = start(condition);
      await harness.step(300);
      stop.abort("enough");
      expect(timeline.events).toEqual([]);
      await harness.step(500);
      await end;
      expect(timeline.events).toEqual([[800, ["rejected", "enough"]]]);
    });

    it("resolves if the running call returns true after the abort", async () => {
      const condition = async () => {
        await harness.clock.sleep(800);
        return true;
      };
      const end = start(condition);
      await harness.step(300);
      stop.abort("enough");
      await harness.step(500);
      await end;
      expect(timeline.events).toEqual([[800, "resolved"]]);
    });

    it("rejects with signal.reason if the condition obeys the abort", async () => {
      const reason = new Error("SIGTERM");
      const onError = vi.fn();
      const condition = async (signal: AbortSignal) => {
        await harness.clock.sleep(800, { signal });
        return true;
      };
      const end = start(condition, { onError });
      await harness.step(300);
      stop.abort(reason);
      await end;
      expect(timeline.events).toEqual([[300, ["rejected", reason]]]);
      expect(onError).not.toHaveBeenCalled();
    });

    interface Semantics {
      readonly name: string;
      readonly aborted?: boolean;
      readonly options: PollUntilOptions;
      /** The result of each call; an error is thrown. */
      readonly results: boolean | Error;
      readonly calls: number;
      readonly end: unknown;
    }

    const failure = new Error("E");
    it.each<Semantics>([
      {
        name: "aborted",
        aborted: true,
        options: { immediate: false },
        results: false,
        calls: 0,
        end: ["rejected", "gone"],
      },
      {
        name: "aborted, and the condition is true",
        aborted: true,
        options: {},
        results: true,
        calls: 1,
        end: "resolved",
      },
      {
        name: "aborted, and the condition fails",
        aborted: true,
        options: {},
        results: failure,
        calls: 1,
        end: ["rejected", failure],
      },
      {
        name: "aborted, and the condition is false",
        aborted: true,
        options: {},
        results: false,
        calls: 1,
        end: ["rejected", "gone"],
      },
      {
        name: "a timeout of 0",
        options: { timeout: 0 },
        results: false,
        calls: 1,
        end: ["rejected", timedOut],
      },
      {
        name: "a timeout of 0, and the condition is true",
        options: { timeout: 0 },
        results: true,
        calls: 1,
        end: "resolved",
      },
      {
        name: "a timeout of 0, not immediate",
        options: { timeout: 0, immediate: false },
        results: true,
        calls: 0,
        end: ["rejected", timedOut],
      },
    ])(
      "calls like Go if the signal is aborted before the start: $name",
      async ({ aborted, options, results, calls, end }) => {
        if (aborted === true) stop.abort("gone");
        const condition = vi.fn((signal: AbortSignal) => {
          expect(signal.aborted).toBe(true);
          if (results instanceof Error) throw results;
          return results;
        });
        for (const sliding of [true, false]) {
          timeline = timelineOf(harness.clock);
          condition.mockClear();
          await start(condition, { ...options, sliding });
          expect(condition).toHaveBeenCalledTimes(calls);
          expect(timeline.events).toEqual([[0, end]]);
        }
      },
    );

    it.each([true, false])(
      "makes no further call after an abort from within a call (immediate: %s)",
      async (immediate) => {
        let calls = 0;
        const condition = () => {
          if (++calls === 5) stop.abort("gone");
          return false;
        };
        const end = start(condition, { immediate });
        await harness.step(10_000);
        await end;
        expect(calls).toBe(5);
        expect(timeline.events).toEqual([[immediate ? 4000 : 5000, ["rejected", "gone"]]]);
      },
    );

    it("passes the caller's signal to the condition without a timeout", async () => {
      const condition = vi.fn(() => true);
      await start(condition);
      expect(condition.mock.calls).toEqual([[stop.signal]]);
    });

    it.each([
      { name: "resolved", results: [false, true] },
      { name: "rejected", results: [false, new Error("bad")] },
    ])(
      "aborts the signal of the condition once it has $name, with a timeout",
      async ({ results }) => {
        const seen: { readonly signal: AbortSignal; readonly aborted: boolean }[] = [];
        const condition = (signal: AbortSignal) => {
          seen.push({ signal, aborted: signal.aborted });
          const result = results[seen.length - 1];
          if (result instanceof Error) throw result;
          return result === true;
        };
        const end = start(condition, { timeout: 5_000 });
        await harness.step(1_000);
        await end;
        const [first, second] = seen;
        expect(seen.map(({ aborted }) => aborted)).toEqual([false, false]);
        expect(first?.signal).toBe(second?.signal);
        expect(first?.signal.aborted).toBe(true);
        expect(first?.signal.reason).toMatchObject({ name: "AbortError" });
        expect(stop.signal.aborted).toBe(false);
      },
    );

    it("leaves the signal of the caller alone once it has resolved", async () => {
      await start((signal) => signal === stop.signal);
      expect(stop.signal.aborted).toBe(false);
    });

    it.each([true, false])(
      "rejects with the reason of an aborted signal also with a timeout of 0 (immediate: %s)",
      async (immediate) => {
        stop.abort("gone");
        const reasons: unknown[] = [];
        const condition = (signal: AbortSignal) => reasons.push(signal.reason) < 0;
        await start(condition, { timeout: 0, immediate });
        expect(timeline.events).toEqual([[0, ["rejected", "gone"]]]);
        expect(reasons).toEqual(immediate ? ["gone"] : []);
      },
    );

    it("rejects with a TimeoutError when the timeout expires, and aborts the signal of the condition", async () => {
      const signals = new Set<AbortSignal>();
      const condition = (signal: AbortSignal) => {
        signals.add(signal);
        return false;
      };
      const end = start(condition, { timeout: 2500 });
      await harness.step(2499);
      expect(timeline.events).toEqual([]);
      await harness.step(1);
      await end;
      expect(timeline.events).toEqual([[2500, ["rejected", timedOut]]]);
      const [signal] = signals;
      expect(signals.size).toBe(1);
      expect(isTimeoutError(signal?.reason)).toBe(true);
    });

    it("expires before a call of the same instant", async () => {
      let calls = 0;
      const end = start(() => ++calls < 0, { timeout: 2000 });
      await harness.step(2000);
      await end;
      expect(calls).toBe(2);
      expect(timeline.events).toEqual([[2000, ["rejected", timedOut]]]);
    });

    it("makes no call if the timeout is shorter than the first delay", async () => {
      let calls = 0;
      const end = start(() => ++calls > 0, { timeout: 999, immediate: false });
      await harness.step(999);
      await end;
      expect(calls).toBe(0);
      expect(timeline.events).toEqual([[999, ["rejected", timedOut]]]);
    });

    it("stops the timer of a timeout that did not expire", async () => {
      await start(() => true, { timeout: 60_000 });
      await start(() => Promise.reject("refused"), { timeout: 60_000 });
      const end = start(() => false, { timeout: 60_000 });
      await harness.step(500);
      expect(harness.waiters()).toBe(2);
      stop.abort("enough");
      await end;
      expect(harness.waiters()).toBe(0);
    });

    it.each<{ sliding: boolean; end: [number, unknown]; calledAt: number[] }>([
      { sliding: false, calledAt: [0, 1000, 2000, 3000], end: [3900, "resolved"] },
      { sliding: true, calledAt: [0, 1900, 3800], end: [5000, ["rejected", timedOut]] },
    ])(
      "makes more calls before the timeout without sliding: $calledAt",
      async ({ sliding, calledAt, end }) => {
        const starts: number[] = [];
        const begin = harness.clock.monotonic();
        const condition = async () => {
          const n = starts.push(harness.clock.monotonic() - begin);
          await harness.clock.sleep(900);
          return n === 4;
        };
        const ended = start(condition, { sliding, timeout: 5000 });
        await harness.step(8000);
        await ended;
        expect(starts).toEqual(calledAt);
        expect(timeline.events).toEqual([end]);
      },
    );

    it("works without options", async () => {
      await expect(wait(() => true)).resolves.toBeUndefined();
    });

    it("waits longer than the maximum of a platform timer", async () => {
      const end = start(trueAt(1), { immediate: false, timeout: 2 ** 40 });
      await harness.step(1000);
      await end;
      expect(timeline.events.at(-1)).toEqual([1000, "resolved"]);
    });
  });

  interface Beat {
    readonly options: PollUntilOptions;
    /** Duration of each call. */
    readonly durations: readonly number[];
    readonly calledAt: readonly number[];
  }

  it.each<Beat>([
    { options: {}, durations: [1500, 0, 0, 0], calledAt: [0, 1500, 2000, 3000] },
    { options: {}, durations: [3500, 0, 0, 0], calledAt: [0, 3500, 4000, 5000] },
    { options: {}, durations: [1000, 0, 0], calledAt: [0, 1000, 2000] },
    { options: { immediate: false }, durations: [1500, 0, 0], calledAt: [1000, 2500, 3000] },
    { options: { sliding: true }, durations: [1500, 0, 0], calledAt: [0, 2500, 3500] },
    {
      options: { sliding: true, immediate: false },
      durations: [1500, 0, 0],
      calledAt: [1000, 3500, 4500],
    },
  ])("pollUntil keeps its grid, or slides: %o", async ({ options, durations, calledAt }) => {
    const starts: number[] = [];
    const begin = harness.clock.monotonic();
    const condition = async () => {
      const n = starts.push(harness.clock.monotonic() - begin);
      const duration = durations[n - 1] ?? 0;
      if (duration > 0) await harness.clock.sleep(duration);
      return n === durations.length;
    };
    const end = pollUntil(condition, 1000, { clock: harness.clock, ...options });
    await harness.step(10_000);
    await end;
    expect(starts).toEqual(calledAt);
  });

  it("pollUntil calls without a delay at an interval of 0", async () => {
    let calls = 0;
    const end = pollUntil(() => ++calls === 100, 0, { clock: harness.clock });
    await harness.step(200);
    await end;
    expect(calls).toBe(100);
  });

  it("pollUntil has a grid that does not drift", async () => {
    const starts: number[] = [];
    const begin = harness.clock.monotonic();
    const condition = () => starts.push(harness.clock.monotonic() - begin) === 4;
    const end = pollUntil(condition, 2 ** 31, { clock: harness.clock });
    for (let beat = 0; beat < 3; beat++) await harness.step(2 ** 31);
    await end;
    expect(starts).toEqual([0, 2 ** 31, 2 ** 32, 3 * 2 ** 31]);
  });

  it.each<{ sliding: boolean; calledAt: number[] }>([
    { sliding: false, calledAt: [0, 300, 600, 1000, 1800] },
    { sliding: true, calledAt: [0, 400, 900, 1600, 2700] },
  ])(
    "delayUntil uses one delay after another (sliding: $sliding)",
    async ({ sliding, calledAt }) => {
      const starts: number[] = [];
      const begin = harness.clock.monotonic();
      const condition = async () => {
        const n = starts.push(harness.clock.monotonic() - begin);
        await harness.clock.sleep(300);
        return n === 5;
      };
      const delays = new Backoff({ duration: 100, factor: 2 }).delayFunc();
      const end = delayUntil(delays, condition, { sliding, clock: harness.clock });
      await harness.step(10_000);
      await end;
      expect(starts).toEqual(calledAt);
    },
  );

  it.each([
    { immediate: false, sliding: false, taken: 2 },
    { immediate: true, sliding: false, taken: 1 },
    { immediate: true, sliding: true, taken: 0 },
    { immediate: false, sliding: true, taken: 1 },
  ])("delayUntil draws no more delays than Go (timings): %o", async ({ taken, ...when }) => {
    const delayFunc = vi.fn(() => 1000);
    const end = delayUntil(delayFunc, () => true, { clock: harness.clock, ...when });
    await harness.step(1000);
    await end;
    expect(delayFunc).toHaveBeenCalledTimes(taken);
  });

  it("delayUntil rejects with a RangeError for an invalid delay, and leaves no timer", async () => {
    const delayFunc = vi.fn().mockReturnValueOnce(100).mockReturnValueOnce(Number.NaN);
    const options = { clock: harness.clock, signal: stop.signal, timeout: 5000 };
    const end = timeline.noteEnd(delayUntil(delayFunc, () => false, options));
    await harness.step(100);
    await end;
    expect(timeline.events).toEqual([[100, ["rejected", expect.any(RangeError)]]]);
  });
});

it("uses the real clock by default", async () => {
  vi.useFakeTimers();
  try {
    let calls = 0;
    const end = pollUntil(() => ++calls === 3, 1000);
    await vi.advanceTimersByTimeAsync(2000);
    await end;
    expect([calls, vi.getTimerCount()]).toEqual([3, 0]);
  } finally {
    vi.useRealTimers();
  }
});
