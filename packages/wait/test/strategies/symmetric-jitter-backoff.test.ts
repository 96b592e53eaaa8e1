import {
  SymmetricJitterBackoff,
  type SymmetricJitterBackoffOptions,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { ALMOST_ONE } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

interface Case {
  readonly options: SymmetricJitterBackoffOptions;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "grows by 50 % from 500 ms": {
      options: { jitter: 0 },
      delays: [500, 750, 1125, 1687.5, 2531.25],
    },
    "is exact without jitter, also at a draw next to 1": {
      options: { jitter: 0, random: () => ALMOST_ONE },
      delays: [500, 750, 1125],
    },
    "ends its growth at 60 s": {
      options: { jitter: 0, duration: 50_000 },
      delays: [50_000, 60_000, 60_000],
    },
    "shortens by at most 50 %": { options: { random: () => 0 }, delays: [250, 375, 562.5] },
    // As in Go, a draw next to 1 is rounded to the nanosecond after the end.
    "lengthens by at most 50 % and a nanosecond": {
      options: { random: () => ALMOST_ONE },
      delays: [750.000_001, 1125.000_001, 1687.5],
    },
    "adds jitter to the cap": {
      options: { cap: 500, random: () => ALMOST_ONE },
      delays: [750.000_001, 750.000_001],
    },
    "has no delay above its cap with capAfterJitter, and is still spread there": {
      options: { cap: 500, jitter: 0.25, capAfterJitter: true, random: () => ALMOST_ONE },
      delays: [500, 500],
    },
    "stays at a mean of 400 with capAfterJitter and a cap of 500": {
      options: { cap: 500, jitter: 0.25, capAfterJitter: true, random: () => 0.5 },
      delays: [400, 400],
    },
    "stops growing after its steps": {
      options: { jitter: 0, steps: 1 },
      delays: [500, 750, 750],
    },
    // The rows of TestGetRandomizedInterval: 1, 2 and 3 ns each have a third of the draws.
    "draws 1 of 3 ns": {
      options: { duration: 2e-6, factor: 1, random: () => 0.33 },
      delays: [1e-6, 1e-6],
    },
    "draws 2 of 3 ns": {
      options: { duration: 2e-6, factor: 1, random: () => 0.66 },
      delays: [2e-6, 2e-6],
    },
    "draws 3 of 3 ns": {
      options: { duration: 2e-6, factor: 1, random: () => 0.99 },
      delays: [3e-6, 3e-6],
    },
    "ends at 2^63 ns instead of a negative delay as in Go": {
      options: { duration: 2 ** 62 / 1e6, factor: 2.1, cap: Number.POSITIVE_INFINITY, jitter: 0 },
      delays: [2 ** 62 / 1e6, 2 ** 63 / 1e6, 2 ** 63 / 1e6],
    },
    "treats undefined as the default": {
      options: {
        duration: undefined,
        factor: undefined,
        jitter: undefined,
        steps: undefined,
        cap: undefined,
        capAfterJitter: undefined,
        random: () => 0.5,
      },
      delays: [500, 750, 1125],
    },
  }),
)("%s", (_, { options, delays }) => {
  expect(firstDelays(delays.length, new SymmetricJitterBackoff(options))).toEqual(delays);
});

it("works without options", () => {
  const [first = 0] = firstDelays(1, new SymmetricJitterBackoff());
  expect(first).toBeGreaterThanOrEqual(250);
  expect(first).toBeLessThanOrEqual(750);
});

it("accepts the smallest cap with capAfterJitter", () => {
  const options = { duration: 0, jitter: 1, cap: Number.MIN_VALUE, capAfterJitter: true };
  expect(new SymmetricJitterBackoff(options).delayFunc()()).toBe(0);
});
