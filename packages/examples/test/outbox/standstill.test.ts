import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { Standstill } from "../../src/outbox/receiver/standstill.ts";

/** A clock whose one timer fires when the test says so: late. */
function lateClock() {
  let now = 0;
  let fire = (): void => undefined;
  const timer = {
    deadline: 0,
    reset: (delay: number) => {
      timer.deadline = now + delay;
    },
  };
  const afterFunc = (delay: number, callback: () => void): unknown => {
    fire = callback;
    timer.reset(delay);
    return timer;
  };
  const clock = { monotonic: () => now, afterFunc } as unknown as Clock;
  return {
    clock,
    at: (instant: number) => {
      now = instant;
    },
    fireAt: (instant: number) => {
      now = instant;
      fire();
    },
  };
}

it("measures the longest block of the event loop since an instant", () => {
  const { clock, at, fireAt } = lateClock();
  const standstill = new Standstill(clock);
  expect(standstill.since(0)).toBe(0);
  fireAt(50);
  expect(standstill.since(0)).toBe(0);
  fireAt(1_000); // due at 100
  fireAt(1_250); // due at 1,050
  expect([0, 1_000, 1_001, 1_250, 1_251].map((instant) => standstill.since(instant))).toEqual([
    900, 900, 200, 200, 0,
  ]);
  at(1_700); // due at 1,300
  expect(standstill.since(1_251)).toBe(400);
});

it("forgets after a minute", () => {
  const { clock, fireAt } = lateClock();
  const standstill = new Standstill(clock);
  fireAt(1_050);
  fireAt(61_050);
  expect(standstill.since(0)).toBe(59_950);
  fireAt(61_101);
  fireAt(121_052);
  expect(standstill.since(0)).toBe(59_901);
});

it("leaves no timer", async () => {
  const clock = new FakeClock();
  const standstill = new Standstill(clock);
  await clock.step(1_000);
  expect(standstill.since(0)).toBe(0);
  standstill[Symbol.dispose]();
  expect(clock.pending()).toEqual([]);
});
