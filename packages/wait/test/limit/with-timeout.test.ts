import { isTimeoutError, TimeoutError, type WithTimeoutOptions, withTimeout } from "@holdfast/wait";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import type { Timeline } from "../../../../test/timeline.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";
import { type Harness, harnesses } from "../harness.ts";
import { stageOn } from "../stage.ts";

describe.each(Object.entries(harnesses))("withTimeout on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;
  let expectNothingLeft: () => void;

  beforeEach(() => {
    ({ harness, stop, timeline, expectNothingLeft } = stageOn(open));
  });

  const start = <Value>(
    work: (signal: AbortSignal) => Value | PromiseLike<Value>,
    timeout: number,
    options: WithTimeoutOptions<Value> = {},
  ): Promise<void> => {
    const { clock } = harness;
    const end = withTimeout(work, timeout, { clock, signal: stop.signal, ...options });
    return timeline.noteEnd(end.then((value) => timeline.note(["value", value])));
  };

  /** Work that ignores its signal and settles after a while. */
  const workOf = (duration: number) => () => harness.clock.sleep(duration).then(() => "done");

  it("resolves with the value of work that settles in time", async () => {
    const end = start(workOf(100), 101);
    await harness.step(100);
    await end;
    expect(timeline.events[0]).toEqual([100, ["value", "done"]]);
  });

  it.each([["a value"], [undefined], [Promise.resolve("late")]])(
    "resolves with %s at once and leaves no timer",
    async (value) => {
      await start(() => value, 100);
      expect(timeline.events[0]).toEqual([0, ["value", await value]]);
      expectNothingLeft();
    },
  );

  it("rejects with an error of the work, thrown or rejected, unchanged", async () => {
    const error = new Error("refused");
    await start(() => {
      throw error;
    }, 100);
    await start(() => Promise.reject(error), 100);
    expect(timeline.events).toEqual([
      [0, ["rejected", error]],
      [0, ["rejected", error]],
    ]);
  });

  it("rejects with a TimeoutError when the time is up, and aborts the work with it", async () => {
    let own: AbortSignal | undefined;
    const end = start((signal) => {
      own = signal;
      return workOf(500)();
    }, 100);
    await harness.step(99);
    expect([timeline.events, own?.aborted]).toEqual([[], false]);
    await harness.step(1);
    await end;
    expect(timeline.events).toEqual([[100, ["rejected", new TimeoutError(100)]]]);
    expect(timeline.events[0]?.[1]).toEqual(["rejected", own?.reason]);
    expect(Object.hasOwn(own?.reason as Error, "cause")).toBe(false);
    await harness.step(400);
  });

  it("rejects with signal.reason when aborted, and aborts the work with it", async () => {
    let own: AbortSignal | undefined;
    const end = start((signal) => {
      own = signal;
      return workOf(500)();
    }, 100);
    await harness.step(50);
    stop.abort("stop");
    await end;
    expect(timeline.events).toEqual([[50, ["rejected", "stop"]]]);
    expect(own?.reason).toBe("stop");
    expect(abortListeners(stop.signal)).toBe(0);
    await harness.step(450);
  });

  it.each([0, 100, Number.POSITIVE_INFINITY])(
    "rejects with signal.reason without calling work if already aborted (timeout %d)",
    async (timeout) => {
      stop.abort("stop");
      const work = vi.fn();
      await start(work, timeout);
      expect(timeline.events).toEqual([[0, ["rejected", "stop"]]]);
      expect(work).not.toHaveBeenCalled();
    },
  );

  it("rejects with a TimeoutError at once for a timeout of 0, without calling work", async () => {
    const work = vi.fn();
    await start(work, 0);
    expect(timeline.events).toEqual([[0, ["rejected", new TimeoutError(0)]]]);
    expect(work).not.toHaveBeenCalled();
  });

  it("arms no timer for a timeout of Infinity, and passes the signal itself to work", async () => {
    let own: AbortSignal | undefined;
    const end = start((signal) => {
      own = signal;
      return new Promise(() => {});
    }, Number.POSITIVE_INFINITY);
    expect(harness.waiters()).toBe(0);
    expect(own).toBe(stop.signal);
    stop.abort("stop");
    await end;
    expect(timeline.events).toEqual([[0, ["rejected", "stop"]]]);
  });

  it("works without a signal", async () => {
    const end = start(workOf(500), 100, { signal: undefined });
    await harness.step(500);
    await end;
    expect(timeline.events).toEqual([[100, ["rejected", new TimeoutError(100)]]]);
    await start((signal) => signal.aborted, Number.POSITIVE_INFINITY, { signal: undefined });
    expect(timeline.events[1]).toEqual([500, ["value", false]]);
  });

  it("passes a late value to onLate, and ignores a late error", async () => {
    const onLate = (value: string) => timeline.note(["late", value]);
    const late = start(workOf(500), 100, { onLate });
    const failing = start(() => workOf(300)().then(() => Promise.reject(new Error("late"))), 100, {
      onLate,
    });
    await harness.step(500);
    await Promise.all([late, failing]);
    expect(timeline.events.map(([at]) => at)).toEqual([100, 100, 500]);
    expect(timeline.events[2]?.[1]).toEqual(["late", "done"]);
  });

  it("passes the value to onLate if work itself aborted", async () => {
    const onLate = vi.fn();
    await start(
      () => {
        stop.abort("stop");
        return "connection";
      },
      100,
      { onLate },
    );
    expect(timeline.events).toEqual([[0, ["rejected", "stop"]]]);
    expect(onLate.mock.calls).toEqual([["connection"]]);
  });

  it("calls `cause` once for the cause of the timeout", async () => {
    const cause = vi.fn(() => "last error");
    const end = start(workOf(200), 100, { cause });
    await harness.step(200);
    await end;
    const [, [, error]] = timeline.events[0] as [number, [string, Error]];
    expect([isTimeoutError(error), error.cause]).toEqual([true, "last error"]);
    expect(cause).toHaveBeenCalledTimes(1);
  });

  it("times out even if `cause` throws, with that error as the cause", async () => {
    const broken = new Error("broken");
    const cause = () => {
      throw broken;
    };
    const end = start(workOf(200), 100, { cause });
    await harness.step(200);
    await end;
    const [, [, error]] = timeline.events[0] as [number, [string, Error]];
    expect([isTimeoutError(error), error.cause]).toEqual([true, broken]);
  });

  it("leaves an error of onLate unhandled", async () => {
    using uncaught = collectUncaught("unhandledRejection");
    const broken = new Error("broken");
    const onLate = () => {
      throw broken;
    };
    const end = start(workOf(200), 100, { onLate });
    await harness.step(200);
    await end;
    await new Promise((resolve) => setImmediate(resolve));
    expect(uncaught.errors).toEqual([broken]);
  });

  it("keeps one listener on a signal for many calls", async () => {
    const ends = Array.from({ length: 10 }, () => start(workOf(100), 1_000));
    expect(abortListeners(stop.signal)).toBe(1);
    await harness.step(100);
    await Promise.all(ends);
  });

  it("reads its options once", async () => {
    const options = { clock: harness.clock, signal: stop.signal };
    const end = timeline.noteEnd(withTimeout(() => new Promise(() => {}), 100, options));
    options.signal = new AbortController().signal;
    stop.abort("stop");
    await end;
    expect(timeline.events).toEqual([[0, ["rejected", "stop"]]]);
  });
});
