import { FakeClock } from "@holdfast/clock/testing";
import { backoffUntil, JitteredBackoffManager } from "@holdfast/wait";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { heapUsed } from "../../../../test/collect-garbage.ts";

it.each([true, false])("retains nothing after 100,000 runs (sliding: %s)", async (sliding) => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const manager = new JitteredBackoffManager({ duration: 1, clock });
  const heap: number[] = [];
  let most = { timers: 0, listeners: 0 };
  let turns = 0;
  const f = async () => {
    turns++;
    if (turns % 10_000 === 0) {
      const timers = Math.max(most.timers, clock.waiters());
      most = { timers, listeners: Math.max(most.listeners, abortListeners(stop.signal)) };
    }
    if (turns === 10_000 || turns === 100_000) heap.push(await heapUsed());
    if (turns === 100_000) stop.abort();
  };
  await clock.run(() => backoffUntil(f, manager, sliding, stop.signal), { turns: 0 });
  const [early, late] = heap as [number, number];
  expect(late - early).toBeLessThan(500_000); // not 6 bytes a turn; an object would be 16
  expect(most).toEqual({ timers: sliding ? 0 : 1, listeners: 1 });
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});
