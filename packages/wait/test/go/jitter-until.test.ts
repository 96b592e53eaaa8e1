import { FakeClock } from "@holdfast/clock/testing";
import { jitterUntil } from "@holdfast/wait/go";
import { beforeEach, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { draws } from "../draws.ts";

let clock: FakeClock;
let stop: AbortController;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  stop = new AbortController();
  timeline = timelineOf(clock);
});

it.each([
  { sliding: undefined, starts: [0, 1800, 3100, 4650] },
  { sliding: true, starts: [0, 1800, 3100, 4650] },
  { sliding: false, starts: [0, 1500, 2500, 3750] },
])("adds jitter to each period (sliding: $sliding)", async ({ sliding, starts }) => {
  const f = async () => {
    timeline.note("run");
    await clock.sleep(300);
  };
  const random = draws(0.5, 0, 0.25, 0.99);
  const end = jitterUntil(f, 1000, stop.signal, { jitter: 1, random, clock, sliding });
  await clock.step(4700);
  stop.abort();
  await clock.step(300);
  await end;
  expect(timeline.events).toEqual(starts.map((at) => [at, "run"]));
  expect(clock.waiters()).toBe(0);
});

it("has no jitter by default", async () => {
  const random = vi.fn(() => 0.5);
  const end = jitterUntil(() => timeline.note("run"), 1000, stop.signal, { random, clock });
  await clock.step(1000);
  stop.abort();
  await end;
  expect(timeline.events).toEqual([
    [0, "run"],
    [1000, "run"],
  ]);
  expect(random).not.toHaveBeenCalled();
});
