import { FakeClock } from "@holdfast/clock/testing";
import { forever } from "@holdfast/wait/go";
import { beforeEach, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";

let clock: FakeClock;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  timeline = timelineOf(clock);
});

it("starts its period at the end of a call, and rejects with an error without onError", async () => {
  const failure = new Error("out of work");
  let left = 3;
  const f = async () => {
    timeline.note("run");
    await clock.sleep(300);
    if (--left === 0) throw failure;
  };
  await clock.run(() => timeline.noteEnd(forever(f, 1000, { clock })));
  expect(timeline.events).toEqual([
    [0, "run"],
    [1300, "run"],
    [2600, "run"],
    [2900, ["rejected", failure]],
  ]);
  expect(clock.waiters()).toBe(0);
});

it("continues after errors that onError accepts", async () => {
  const worse = new Error("worse");
  const failures: unknown[] = [];
  const f = () => {
    throw "refused";
  };
  const onError = (error: unknown) => {
    if (failures.push(error) === 3) throw worse;
  };
  await clock.run(() => timeline.noteEnd(forever(f, 1000, { clock, onError })));
  expect(failures).toEqual(["refused", "refused", "refused"]);
  expect(timeline.events).toEqual([[2000, ["rejected", worse]]]);
});

it("passes the same signal to each call, which never aborts", async () => {
  const signals: AbortSignal[] = [];
  const f = (signal: AbortSignal) => {
    if (signals.push(signal) === 2) throw "enough";
  };
  await clock.run(() => timeline.noteEnd(forever(f, 1000, { clock })));
  const [first, second] = signals as [AbortSignal, AbortSignal];
  expect(second).toBe(first);
  expect([first.aborted, abortListeners(first)]).toEqual([false, 0]);
});

it("rejects when other code stops its timer", async () => {
  const end = forever(() => {}, 1000, { clock });
  await clock.waitForWaiters(1);
  clock[Symbol.dispose]();
  await expect(end).rejects.toThrow(new Error("forever: other code stopped the timer of the loop"));
});

it("uses the real clock by default", async () => {
  vi.useFakeTimers();
  try {
    let left = 3;
    const f = () => {
      if (--left === 0) throw "enough";
    };
    const reason = forever(f, 1000).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await reason).toBe("enough");
  } finally {
    vi.useRealTimers();
  }
});
