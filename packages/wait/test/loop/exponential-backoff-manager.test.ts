import { FakeClock } from "@holdfast/clock/testing";
import { ExponentialBackoffManager, type ExponentialBackoffManagerOptions } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { beforeEach, expect, it, vi } from "vitest";
import { draws } from "../draws.ts";
import { nextDelay } from "../next-delay.ts";

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

interface Case {
  readonly options: Omit<ExponentialBackoffManagerOptions, "clock">;
  /** Pause before each call. */
  readonly pauses: readonly number[];
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "grows to the cap and starts over after a pause (GetNextBackoff)": {
      options: { duration: 1, factor: 2, cap: 10, resetAfter: 10 },
      pauses: [0, 0, 0, 0, 0, 0, 0, 11],
      delays: [1, 2, 4, 8, 10, 10, 10, 1],
    },
    "does not start over after a pause of exactly resetAfter": {
      options: { duration: 100, factor: 2, resetAfter: 1000 },
      pauses: [0, 1000, 1000],
      delays: [100, 200, 400],
    },
    "starts over after a pause that is a nanosecond longer": {
      options: { duration: 100, factor: 2, resetAfter: 1000 },
      pauses: [0, 1000, 1000.000_001, 0],
      delays: [100, 200, 100, 200],
    },
    "measures the pause from call to call": {
      options: { duration: 100, factor: 2, resetAfter: 1000 },
      pauses: [900, 900, 900, 900, 1001],
      delays: [100, 200, 400, 800, 100],
    },
    "starts over on its own if a delay is longer than resetAfter": {
      options: { duration: 1000, factor: 2, cap: 30_000, resetAfter: 5000 },
      pauses: [0, 1000, 2000, 4000, 8000, 1000, 2000],
      delays: [1000, 2000, 4000, 8000, 1000, 2000, 4000],
    },
    "starts over after any pause with a resetAfter of 0": {
      options: { duration: 100, factor: 2, resetAfter: 0 },
      pauses: [0, 0, 0.000_001, 0],
      delays: [100, 200, 100, 200],
    },
    "never starts over by default": {
      options: { duration: 100, factor: 2 },
      pauses: [0, 1e12, 1e12],
      delays: [100, 200, 400],
    },
    "has no cap by default": {
      options: { duration: 1, factor: 1000 },
      pauses: [0, 0, 0, 0],
      delays: [1, 1e3, 1e6, 1e9],
    },
    "has a first delay above its cap": {
      options: { duration: 100, factor: 2, cap: 30 },
      pauses: [0, 0, 0],
      delays: [100, 30, 30],
    },
    "adds jitter to each delay without accumulating it": {
      options: { duration: 100, factor: 2, cap: 400, jitter: 0.5, random: draws(0.5, 0, 0.25) },
      pauses: [0, 0, 0, 0],
      delays: [125, 200, 450, 500],
    },
  }),
)("%s", (_, { options, pauses, delays }) => {
  const manager = new ExponentialBackoffManager({ ...options, clock });
  const seen = pauses.map((pause) => {
    clock.stepSync(pause);
    return nextDelay(manager, clock);
  });
  expect(seen).toEqual(delays);
});

it("stays between the delay and the delay with maximum jitter", () => {
  const random = seededRandom(11);
  const manager = new ExponentialBackoffManager({
    duration: 1,
    factor: 1,
    jitter: 1,
    clock,
    random,
  });
  for (let i = 0; i < 1000; i++) {
    const delay = nextDelay(manager, clock);
    expect(delay).toBeGreaterThanOrEqual(1);
    expect(delay).toBeLessThan(2);
  }
});

it("arms one labelled timer repeatedly", async () => {
  const manager = new ExponentialBackoffManager({ duration: 100, factor: 2, clock });
  expect(clock.waiters()).toBe(0);
  const timer = manager.backoff();
  expect(clock.pending()).toEqual([
    { label: "backoff", deadline: clock.monotonic() + 100, ref: true },
  ]);
  expect(manager.backoff()).toBe(timer);
  expect(clock.waiters()).toBe(1);
  await clock.step(200);
  expect(await timer.fired).toBe(true);
  expect(manager.backoff()).toBe(timer);
  expect([timer.active, clock.waiters()]).toEqual([true, 1]);
  expect(timer.stop()).toBe(true);
  expect(clock.waiters()).toBe(0);
});

it("uses the real clock by default", () => {
  vi.useFakeTimers();
  try {
    const manager = new ExponentialBackoffManager({ duration: 100, factor: 2 });
    expect(vi.getTimerCount()).toBe(0);
    manager.backoff();
    expect(vi.getTimerCount()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
