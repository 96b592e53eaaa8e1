import { FakeClock } from "@holdfast/clock/testing";
import { Backoff } from "@holdfast/wait";
import { backoffManager, type LoopManager, type LoopWork, loop } from "@holdfast/wait/loop";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";

/** The parts of the loop that `backoffUntil` does not use; its tests cover the others. */
describe("loop", () => {
  let clock: FakeClock;
  let stop: AbortController;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    stop = new AbortController();
    timeline = timelineOf(clock);
  });

  afterEach(() => {
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  /** Counts its runs from 1 and is done after the third. */
  const counting = (options: Partial<LoopWork<number> & LoopManager> = {}) => {
    let runs = 0;
    return loop({
      run() {
        timeline.note(++runs);
        return runs;
      },
      isDone: (run) => run === 3,
      onError: undefined,
      manager: backoffManager(new Backoff({ duration: 100, factor: 2 }), { clock }),
      immediate: true,
      sliding: true,
      signal: stop.signal,
      ...options,
    });
  };

  it.each([
    { immediate: true, sliding: true, runs: [0, 100, 300] },
    { immediate: true, sliding: false, runs: [0, 100, 300] },
    { immediate: false, sliding: true, runs: [100, 300, 700] },
    { immediate: false, sliding: false, runs: [100, 300, 700] },
  ])("resolves with the first value that is done: %o", async ({ runs, ...when }) => {
    expect(await clock.run(() => counting(when))).toEqual({ value: 3 });
    expect(timeline.events).toEqual(runs.map((at, index) => [at, index + 1]));
  });

  it("distinguishes the value undefined from a stop", async () => {
    const run = () => undefined;
    expect(await counting({ run, isDone: () => true } as never)).toEqual({ value: undefined });
    const stopped = counting({ isDone: () => false });
    stop.abort();
    expect(await stopped).toBeUndefined();
  });

  it.each([true, false])(
    "waits for a delay first without immediate (sliding: %s)",
    async (sliding) => {
      const stopped = counting({ immediate: false, sliding });
      expect(clock.waiters()).toBe(1);
      await clock.step(99);
      stop.abort();
      expect(await stopped).toBeUndefined();
      expect(timeline.events).toEqual([]);
    },
  );

  it("rejects with an error of isDone, without calling onError", async () => {
    const limit = new Error("limit");
    const isDone = () => {
      throw limit;
    };
    const onError = timeline.note;
    await expect(counting({ isDone, onError })).rejects.toBe(limit);
    expect(timeline.events).toEqual([[0, 1]]);
  });

  it.each([true, false])(
    "makes no run if the signal is already aborted (immediate: %s)",
    async (immediate) => {
      stop.abort();
      for (const sliding of [true, false])
        expect(await counting({ immediate, sliding })).toBeUndefined();
      expect(timeline.events).toEqual([]);
    },
  );

  it("makes no further run after an abort without an abort event", async () => {
    const ended = counting({ isDone: () => false });
    await clock.step(50);
    Object.defineProperty(stop.signal, "aborted", { value: true });
    await clock.step(50);
    expect(await ended).toBeUndefined();
    expect(timeline.events).toEqual([[0, 1]]);
  });

  it("resolves after an abort during the last run that the strategy allows", async () => {
    const spent = new Error("no delay left");
    const delayFunc = () => () => {
      throw spent;
    };
    const run = () => {
      stop.abort();
      return 1;
    };
    const manager = backoffManager({ delayFunc }, { clock });
    expect(await counting({ run, manager })).toBeUndefined();
  });

  it("calls isDone and onError with one argument each", async () => {
    const seen: unknown[][] = [];
    const fail = (): number => {
      throw new Error("refused");
    };
    const options = {
      run: () => (seen.length === 0 ? fail() : 3),
      isDone: (...args: unknown[]) => seen.push(args) > 0,
      onError: (...args: unknown[]) => void seen.push(args),
    } as Partial<LoopWork<number> & LoopManager>;
    await clock.run(() => counting(options));
    expect(seen.map(({ length }) => length)).toEqual([1, 1]);
  });
});
