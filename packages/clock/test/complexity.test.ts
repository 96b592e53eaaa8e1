import type { Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { growth } from "./cost.ts";

/** Delays in no order, the same ones every time. */
const scattered = (index: number): number => (index * 7919) % 100_003;

function armed(n: number): { clock: FakeClock; timers: Timer[] } {
  const clock = new FakeClock();
  const timers: Timer[] = [];
  for (let index = 0; index < n; index++) timers.push(clock.newTimer(scattered(index)));
  return { clock, timers };
}

// Ten times the work costs ten times as much, and a little more for the depth of the heap.
describe("ten times as many timers cost less than four times as much each", {
  timeout: 30_000,
}, () => {
  it("to arm and to fire", () => {
    const work = (n: number): void => {
      const { clock } = armed(n);
      clock.stepSync(100_003);
      expect(clock.waiters()).toBe(0);
    };
    expect(growth(work, 5000, { factor: 10, limit: 40 })).toBeLessThan(40);
  });

  it("to arm, reset and stop in any order", () => {
    const work = (n: number): void => {
      const { clock, timers } = armed(n);
      for (let index = 0; index < n; index++) timers[(index * 31) % n]?.reset(scattered(index + 1));
      for (let index = 0; index < n; index++) timers[(index * 37) % n]?.stop();
      expect(clock.waiters()).toBe(0);
    };
    expect(growth(work, 5000, { factor: 10, limit: 40 })).toBeLessThan(40);
  });
});

it("a step over nothing costs the same with 100,000 timers armed as with none", () => {
  const [empty, full] = [new FakeClock(), armed(100_000).clock];
  const steps = (clock: FakeClock): void => {
    for (let index = 0; index < 20_000; index++) clock.stepSync(0);
  };
  full.stepSync(0);
  const work = (n: number) => steps(n === 1 ? empty : full);
  expect(growth(work, 1, { factor: 2, limit: 10 })).toBeLessThan(10);
});
