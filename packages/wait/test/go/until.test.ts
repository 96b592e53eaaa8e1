import { jitterUntil, nonSlidingUntil, type PeriodicOptions, until } from "@holdfast/wait/go";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { stageOn } from "../stage.ts";

/** The loops with a period. Their common behaviour does not depend on the start of the period. */
const family = { until, nonSlidingUntil, jitterUntil };

describe.each(Object.entries(harnesses))("on %s", (_on, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;

  beforeEach(() => {
    ({ harness, stop, timeline } = stageOn(open));
  });

  const run = () => timeline.note("run");

  const runFor = (duration: number) => async () => {
    run();
    await harness.clock.sleep(duration);
  };

  describe.each(Object.entries(family))("%s", (_name, loop) => {
    const start = (
      f: (signal: AbortSignal) => unknown,
      period: number,
      options?: PeriodicOptions,
    ) => timeline.noteEnd(loop(f, period, stop.signal, { clock: harness.clock, ...options }));

    it("resolves without a call if already aborted", async () => {
      stop.abort();
      await start(run, 0);
      expect(timeline.events).toEqual([[0, "resolved"]]);
    });

    it("calls at once, then once per period, until its signal aborts", async () => {
      const end = start(run, 1000);
      await harness.step(2500);
      stop.abort();
      await end;
      expect(timeline.events).toEqual([
        [0, "run"],
        [1000, "run"],
        [2000, "run"],
        [2500, "resolved"],
      ]);
    });

    it("calls repeatedly with a period of 0", async () => {
      let runs = 0;
      const f = () => {
        if (++runs === 100) stop.abort();
      };
      const end = start(f, 0);
      await harness.step(200);
      await end;
      expect(runs).toBe(100);
    });

    it("resolves at once when aborted from within a call", async () => {
      const f = () => {
        run();
        stop.abort();
      };
      await start(f, 30_000);
      expect(timeline.events).toEqual([
        [0, "run"],
        [0, "resolved"],
      ]);
    });

    it("continues after errors that onError accepts (RecoversPanic)", async () => {
      const onError = vi.fn();
      let runs = 0;
      const f = () => {
        if (++runs < 3) throw `failure ${runs}`;
        stop.abort();
      };
      const end = start(f, 1000, { onError });
      await harness.step(5000);
      await end;
      expect(onError.mock.calls).toEqual([["failure 1"], ["failure 2"]]);
      expect(timeline.events).toEqual([[2000, "resolved"]]);
    });

    it("rejects with an error without onError", async () => {
      const failure = new Error("refused");
      await start(() => Promise.reject(failure), 1000);
      expect(timeline.events).toEqual([[0, ["rejected", failure]]]);
    });

    it("passes its signal to each call", async () => {
      const f = vi.fn();
      const end = start(f, 1000);
      await harness.step(1500);
      stop.abort();
      await end;
      expect(f.mock.calls).toEqual([[stop.signal], [stop.signal]]);
      expect(f.mock.calls[0]?.[0]).toBe(stop.signal);
    });

    it("has exactly the given period", async () => {
      for (const period of [2 ** 31 - 1, 2 ** 31, 1e12]) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const end = start(run, period);
        await harness.step(period - 1);
        expect(timeline.events).toHaveLength(1);
        await harness.step(1);
        expect(timeline.events).toHaveLength(2);
        stop.abort();
        await end;
      }
    });
  });

  it.each(["until", "nonSlidingUntil"] as const)("%s refuses jitter", async (loop) => {
    const options = { clock: harness.clock, jitter: 1 };
    await expect(family[loop](run, 1000, stop.signal, options)).rejects.toThrow(
      `options.jitter is not an option of ${loop}`,
    );
  });

  interface PeriodCase {
    readonly loop: keyof typeof family;
    readonly starts: readonly number[];
  }

  it.each<PeriodCase>([
    { loop: "until", starts: [0, 1300, 2600] },
    { loop: "jitterUntil", starts: [0, 1300, 2600] },
    { loop: "nonSlidingUntil", starts: [0, 1000, 2000, 3000] },
  ])("$loop starts its period at the right instant", async ({ loop, starts }) => {
    const { clock } = harness;
    const end = timeline.noteEnd(family[loop](runFor(300), 1000, stop.signal, { clock }));
    await harness.step(3500);
    stop.abort();
    await end;
    expect(timeline.events).toEqual([...starts.map((at) => [at, "run"]), [3500, "resolved"]]);
  });
});

describe("without a clock option", () => {
  const now = () => performance.now();

  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(Object.entries(family))("%s uses the real clock", async (_name, loop) => {
    const stop = new AbortController();
    const start = now();
    const starts: number[] = [];
    const end = loop(() => starts.push(now() - start), 1000, stop.signal);
    await vi.advanceTimersByTimeAsync(2500);
    stop.abort();
    await end;
    expect(starts).toEqual([0, 1000, 2000]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
