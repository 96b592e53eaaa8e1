import { AttemptBackoff, type AttemptBackoffOptions } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { ALMOST_ONE, draws } from "../draws.ts";

interface Case {
  readonly options: AttemptBackoffOptions;
  readonly delays: readonly number[];
}

it.each(
  Object.entries<Case>({
    // The rows of the tests of jpillora/backoff, in milliseconds.
    "doubles from 100 ms to 10 s": {
      options: {},
      delays: [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000],
    },
    "grows by its factor": { options: { factor: 1.5 }, delays: [100, 150, 225] },
    "rounds down to whole nanoseconds": {
      options: { duration: 0.000_1, factor: 1.75 },
      delays: [0.000_1, 0.000_175, 0.000_306],
    },
    "is the cap if the minimum delay is longer": {
      options: { duration: 500_000, cap: 100_000 },
      delays: [100_000, 100_000],
    },
    "is the minimum delay at a factor below 1": {
      options: { factor: 0.5 },
      delays: [100, 100, 100],
    },
    "draws between the minimum delay and the grown delay": {
      options: { spread: true, random: () => 0.5 },
      delays: [100, 150, 250, 450],
    },
    "draws before the cap, so that most late delays are the cap": {
      options: { spread: true, cap: 400, random: draws(0.25) },
      delays: [100, 125, 175, 275, 400, 400],
    },
    "is the minimum delay for a draw of 0": {
      options: { spread: true, cap: 400, random: () => 0 },
      delays: [100, 100, 100, 100],
    },
    "stays 0 from a duration of 0": {
      options: { duration: 0, spread: true, random: () => ALMOST_ONE },
      delays: [0, 0, 0],
    },
    "treats undefined as the default": {
      options: {
        duration: undefined,
        factor: undefined,
        cap: undefined,
        spread: undefined,
        random: undefined,
      },
      delays: [100, 200],
    },
  }),
)("%s", (_, { options, delays }) => {
  const backoff = new AttemptBackoff(options);
  expect(delays.map(() => backoff.duration())).toEqual(delays);
  expect(delays.map((_delay, attempt) => backoff.forAttempt(attempt))).toEqual(delays);
  expect(delays.map(backoff.delayFunc())).toEqual(delays);
});

it.each([
  { attempt: 1_000_000, options: {}, delay: 10_000 },
  { attempt: Number.POSITIVE_INFINITY, options: {}, delay: 10_000 },
  { attempt: Number.POSITIVE_INFINITY, options: { factor: 1 }, delay: 100 },
  { attempt: Number.POSITIVE_INFINITY, options: { factor: 0.5 }, delay: 100 },
  { attempt: 2 ** 40, options: { duration: 0 }, delay: 0 },
  { attempt: 2000, options: { spread: true, random: () => 0 }, delay: 100 },
  {
    attempt: 2000,
    options: { cap: Number.POSITIVE_INFINITY, spread: true, random: () => ALMOST_ONE },
    delay: 2 ** 63 / 1e6,
  },
])("is $delay for attempt $attempt with $options", ({ attempt, options, delay }) => {
  expect(new AttemptBackoff(options).forAttempt(attempt)).toBe(delay);
});

it("makes no draw with an empty range or without spread", () => {
  let drawn = 0;
  const random = () => {
    drawn++;
    return 0;
  };
  const flat = { duration: 5, cap: 5, random };
  expect(new AttemptBackoff({ ...flat, spread: true }).duration()).toBe(5);
  expect(new AttemptBackoff({ random }).duration()).toBe(100);
  expect(drawn).toBe(0);
});

it("counts attempts until reset, and does not count calls of forAttempt", () => {
  const backoff = new AttemptBackoff();
  const counted: number[] = [];
  for (let i = 0; i < 3; i++) {
    counted.push(backoff.attempt());
    backoff.duration();
    backoff.forAttempt(7);
  }
  expect(counted).toEqual([0, 1, 2]);
  backoff.reset();
  expect([backoff.attempt(), backoff.duration()]).toEqual([0, 100]);
});

it("has copies with the same options at attempt 0", () => {
  const backoff = new AttemptBackoff({ duration: 3, factor: 3, cap: 30 });
  backoff.duration();
  const copy = backoff.copy();
  expect([copy.attempt(), copy.duration(), copy.duration(), copy.duration()]).toEqual([
    0, 3, 9, 27,
  ]);
  expect([backoff.attempt(), copy.attempt(), copy.duration()]).toEqual([1, 3, 30]);
});
