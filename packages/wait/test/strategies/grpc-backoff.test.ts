import {
  GrpcBackoff,
  type GrpcBackoffOptions,
  grpcBackoff,
  seededRandom,
} from "@holdfast/wait/strategies";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { ALMOST_ONE } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

interface Case {
  readonly options: GrpcBackoffOptions;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    "has the defaults of gRPC": {
      options: { random: () => 0.5 },
      delays: [
        1000, 1600, 2560, 4096, 6553.6, 10_485.76, 16_777.216, 26_843.545_6, 42_949.672_96,
        68_719.476_736, 109_951.162_777, 120_000, 120_000,
      ],
    },
    "shortens by at most 20 %": { options: { random: () => 0 }, delays: [1000, 1280, 2048] },
    "lengthens by at most 20 %, also at the cap": {
      options: { random: () => ALMOST_ONE, cap: 2000 },
      delays: [1000, 1920, 2400],
    },
    "has a first delay above its cap": {
      options: { random: () => 0.5, duration: 9, cap: 3 },
      delays: [9, 3, 3],
    },
    "has no delay above its cap with capAfterJitter, and is still spread there": {
      options: { random: () => ALMOST_ONE, duration: 9, cap: 6, jitter: 0.5, capAfterJitter: true },
      delays: [4, 6, 6],
    },
    "shrinks by a factor below 1": {
      options: { random: () => 0.5, factor: 0.5 },
      delays: [1000, 500, 250],
    },
    "stays at its cap from a first delay of the cap, with any factor": {
      options: { random: () => 0.5, duration: 3, factor: 0.5, cap: 3 },
      delays: [3, 3, 3],
    },
    "treats undefined as the default": {
      options: {
        duration: undefined,
        factor: undefined,
        jitter: 0,
        cap: undefined,
        capAfterJitter: undefined,
        random: undefined,
      },
      delays: [1000, 1600, 2560],
    },
  }),
)("%s", (_, { options, delays }) => {
  expect(firstDelays(delays.length, new GrpcBackoff(options))).toEqual(delays);
  expect(delays.map((_delay, retries) => grpcBackoff(retries, options))).toEqual(delays);
});

it("has defaults for every option", () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  try {
    expect([grpcBackoff(0), grpcBackoff(1)]).toEqual([1000, 1600]);
    expect(firstDelays(2, new GrpcBackoff())).toEqual([1000, 1600]);
    expect(random).toHaveBeenCalledTimes(2);
  } finally {
    random.mockRestore();
  }
});

it.each([
  { retries: 1_000_000, options: {}, delay: 120_000 },
  { retries: Number.POSITIVE_INFINITY, options: {}, delay: 120_000 },
  { retries: Number.POSITIVE_INFINITY, options: { factor: 1 }, delay: 1000 },
  { retries: Number.POSITIVE_INFINITY, options: { factor: 0.5 }, delay: 0 },
  { retries: Number.POSITIVE_INFINITY, options: { duration: 0 }, delay: 0 },
  {
    retries: Number.POSITIVE_INFINITY,
    options: { cap: Number.POSITIVE_INFINITY },
    delay: 2 ** 63 / 1e6,
  },
])("is $delay after $retries retries with $options", ({ retries, options, delay }) => {
  expect(grpcBackoff(retries, { ...options, random: () => 0.5 })).toBe(delay);
});

it("equals its strategy for each number of retries", () => {
  const shape = fc.record({
    duration: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 0.1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    cap: fc.double({ min: 1, max: 1e9, noNaN: true }),
    capAfterJitter: fc.boolean(),
  });
  fc.assert(
    fc.property(shape, fc.integer(), (options, seed) => {
      const one = seededRandom(seed);
      const other = seededRandom(seed);
      const delays = firstDelays(30, new GrpcBackoff({ ...options, random: one }));
      return delays.every(
        (delay, retries) => grpcBackoff(retries, { ...options, random: other }) === delay,
      );
    }),
  );
});
