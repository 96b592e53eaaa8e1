import { Grid, machineLoop } from "@holdfast/kit";
import { expect, it } from "vitest";

function keepAlive(): Disposable {
  return { [Symbol.dispose]: () => {} };
}

function gridFrom(start: number, period: number): Grid {
  return new Grid({ monotonic: () => start }, period);
}

it.each([
  { late: 0, left: 100, point: 2 },
  { late: 0.5, left: 99.5, point: 2 },
  { late: 99.5, left: 0.5, point: 2 },
  { late: 100, left: 100, point: 3 },
  { late: 250, left: 50, point: 4 },
  // A timer of Node may be as early as this.
  { late: -1, left: 101, point: 2 },
  // This one is fake.
  { late: -1.5, left: 100, point: 2 },
  { late: -100, left: 100, point: 2 },
])(
  "after a timer that is $late ms late, the next point is $left ms away",
  ({ late, left, point }) => {
    const grid = gridFrom(1_000, 100);
    expect([grid.next(1_100 + late), grid.point]).toEqual([left, point]);
  },
);

it("is a period away on a clock that does not measure its timers", () => {
  let now = 0;
  const loop = { keepAlive, afterTurn: () => {}, measuresTimers: false };
  const grid = new Grid({ monotonic: () => now, [machineLoop]: loop }, 10);
  const left = [10, 13, 47, 47.5].map((instant) => {
    now = instant;
    return grid.next(now);
  });
  loop.measuresTimers = true;
  expect([left, grid.point, grid.next(60)]).toEqual([[10, 10, 10, 10], 5, 7.5]);
});

it("counts a point as reached that rounding to nanoseconds moved after now", () => {
  const period = 1_000 / 30;
  const start = 1_000_000;
  for (let point = 3; point < 3_000; point++) {
    const grid = gridFrom(start, period);
    const now = Math.round((start + point * period) * 1e6) / 1e6;
    const left = grid.next(now);
    expect([grid.point, left]).toEqual([point + 1, expect.closeTo(period, 5)]);
  }
});

it("counts a point as reached that is less than a microsecond ahead, or a thousandth of a short period", () => {
  const left = (period: number, now: number) => gridFrom(0, period).next(now);
  expect(left(100, 299.9995)).toBeCloseTo(100.0005, 9);
  expect(left(100, 299.998)).toBeCloseTo(0.002, 9);
  expect(left(0.1, 0.29995)).toBeCloseTo(0.10005, 9);
  expect(left(0.1, 0.2998)).toBeCloseTo(0.0002, 9);
});

it("moves to the next point, not to the one that was missed", () => {
  const grid = gridFrom(0, 10);
  expect([10, 25, 30, 30, 40].map((now) => grid.next(now))).toEqual([10, 5, 10, 10, 10]);
});
