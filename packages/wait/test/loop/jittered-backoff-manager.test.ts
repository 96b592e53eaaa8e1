import { FakeClock } from "@holdfast/clock/testing";
import { JitteredBackoffManager, type JitteredBackoffManagerOptions } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { beforeEach, expect, it, vi } from "vitest";
import { draws } from "../draws.ts";
import { nextDelay } from "../next-delay.ts";

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

interface Case {
  readonly options: Omit<JitteredBackoffManagerOptions, "clock">;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "is constant without jitter": { options: { duration: 100 }, delays: [100, 100, 100] },
    "draws for each delay": {
      options: { duration: 100, jitter: 0.5, random: draws(0, 0.5, 0.75) },
      delays: [100, 125, 137.5, 100],
    },
    "may be 0": { options: { duration: 0, jitter: 3 }, delays: [0, 0] },
  }),
)("%s", (_, { options, delays }) => {
  const manager = new JitteredBackoffManager({ ...options, clock });
  expect(delays.map(() => nextDelay(manager, clock))).toEqual(delays);
});

it("stays between the delay and twice it at a jitter of 1 (GetNextBackoff)", () => {
  const manager = new JitteredBackoffManager({
    duration: 1,
    jitter: 1,
    clock,
    random: seededRandom(9),
  });
  for (let i = 0; i < 1000; i++) {
    const delay = nextDelay(manager, clock);
    expect(delay).toBeGreaterThanOrEqual(1);
    expect(delay).toBeLessThan(2);
  }
});

it("arms one timer repeatedly", async () => {
  const manager = new JitteredBackoffManager({ duration: 100, clock });
  expect(clock.waiters()).toBe(0);
  const timer = manager.backoff();
  expect(manager.backoff()).toBe(timer);
  await clock.step(100);
  expect(manager.backoff()).toBe(timer);
  expect(clock.waiters()).toBe(1);
});

it("uses the real clock by default", () => {
  vi.useFakeTimers();
  try {
    new JitteredBackoffManager({ duration: 100 }).backoff();
    expect(vi.getTimerCount()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
