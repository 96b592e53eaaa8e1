import { Jitter, jitter } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, it, vi } from "vitest";
import { ALMOST_ONE } from "../draws.ts";

interface Case {
  readonly duration: number;
  readonly maxFactor: number;
  readonly draw: number;
  readonly delay: number;
}

it.each(
  Object.entries<Case>({
    "adds nothing": { duration: 1000, maxFactor: 0.5, draw: 0, delay: 1000 },
    "adds a share": { duration: 1000, maxFactor: 0.5, draw: 0.25, delay: 1125 },
    "stays below the end": { duration: 1, maxFactor: 1, draw: ALMOST_ONE, delay: 1.999_999 },
    "adds nothing at 0": { duration: 1000, maxFactor: 0, draw: 0.25, delay: 1000 },
    "adds several times over": { duration: 10, maxFactor: 8, draw: 0.5, delay: 50 },
    "adds to 0": { duration: 0, maxFactor: 8, draw: 0.5, delay: 0 },
    "accepts fractions": { duration: 0.4, maxFactor: 0.5, draw: 0.5, delay: 0.5 },
    // Another order of the factors makes each of these wrong by 1 ns.
    "is Go's for 1621.877 ms": {
      duration: 1621.877,
      maxFactor: 0.7,
      draw: 0.71,
      delay: 2427.949_868,
    },
    "is Go's for 1388.624 ms": {
      duration: 1388.624,
      maxFactor: 0.7,
      draw: 0.255,
      delay: 1636.493_384,
    },
    "is Go's for 1293.065 ms": {
      duration: 1293.065,
      maxFactor: 0.3,
      draw: 0.586,
      delay: 1520.385_826,
    },
    "ends at 2^63 ns": { duration: 9e12, maxFactor: 1, draw: 0.5, delay: 2 ** 63 / 1e6 },
  }),
)("%s", (_, { duration, maxFactor, draw, delay }) => {
  expect(jitter(duration, maxFactor, () => draw)).toBe(delay);
});

it("draws once, by default from Math.random", () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  try {
    expect(jitter(100, 1)).toBe(150);
    expect(random).toHaveBeenCalledTimes(1);
  } finally {
    random.mockRestore();
  }
});

it("is uniform between the duration and the end", () => {
  const random = seededRandom(7);
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const tenth = Math.floor((jitter(100, 0.5, random) - 100) / 5);
    tenths[tenth] = (tenths[tenth] as number) + 1;
  }
  expect(tenths).toHaveLength(10);
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

it("treats 0 as 1 under its Go name, and any other factor alike", () => {
  const quarter = (): number => 0.25;
  expect(Jitter(1_000, 0, quarter)).toBe(1_250);
  expect(Jitter(1_000, 0.5, quarter)).toBe(jitter(1_000, 0.5, quarter));
});
