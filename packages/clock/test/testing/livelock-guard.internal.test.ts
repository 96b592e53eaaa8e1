import { expect, it } from "vitest";
import { LivelockGuard } from "../../src/testing/livelock-guard.ts";

/** A guard over a time whose instant and number of timers the test sets. */
function guarded(size: number) {
  const clock = { now: 0, size, monotonic: () => clock.now };
  const guard = new LivelockGuard(clock, Number.POSITIVE_INFINITY);
  const count = (times: number) => {
    for (let index = 0; index < times; index++) guard.count("poll");
  };
  return { clock, guard, count };
}

it("counts the timers of each instant separately", () => {
  const { clock, guard, count } = guarded(0);
  for (clock.now = 1; clock.now <= 3; clock.now++) count(100_000);
  expect(guard.fired).toBe(300_000);
  expect(() => count(100_001)).toThrow("100000 timers fired without time moving");
});

it("lets the timers fire once that were armed at the limit", () => {
  const { clock, guard, count } = guarded(7);
  count(100_007);
  expect(() => count(1)).toThrow("100000 timers fired without time moving");
  clock.now = 1;
  clock.size = 2;
  count(100_002);
  expect(() => count(1)).toThrow("100000 timers fired without time moving");
  expect(guard.fired).toBe(200_011);
});
