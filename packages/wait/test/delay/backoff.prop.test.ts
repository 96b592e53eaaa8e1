import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffOptions, jitter } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import fc from "fast-check";
import { it } from "vitest";
import { ALMOST_ONE } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

/** 2^63 ns in milliseconds. */
const LONGEST = 2 ** 63 / 1e6;

const nanoseconds = (min: number) => fc.integer({ min, max: 1e15 }).map((count) => count / 1e6);

const duration = fc.oneof(
  fc.integer({ min: 0, max: 1e6 }),
  nanoseconds(0),
  fc.double({ min: 0, max: 1e13, noNaN: true }),
);

const draw = fc.oneof(
  fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }),
  fc.constantFrom(0, ALMOST_ONE),
);

const seed = fc.integer();

/** Shapes that do not shrink. */
const growing = fc.record({
  duration,
  factor: fc.double({ min: 1, max: 100, noNaN: true }),
  jitter: fc.double({ min: 0, max: 10, noNaN: true }),
  steps: fc.oneof(fc.nat(40), fc.constant(Number.POSITIVE_INFINITY)),
  cap: fc.oneof(nanoseconds(1), fc.constant(Number.POSITIVE_INFINITY)),
});

/** All shapes. */
const any = fc.oneof(
  growing,
  growing.map(({ factor: _, ...shape }) => shape),
  fc
    .tuple(growing, fc.double({ min: Number.MIN_VALUE, max: 1, noNaN: true }))
    .map(([shape, factor]) => ({ ...shape, factor })),
);

const COUNT = 60;

/** Tolerance: a nanosecond of rounding down, and the precision of a double. */
const slack = (delay: number) => 1e-6 + delay * 2 ** -50;

it("stays between the base and the base with maximum jitter", () => {
  fc.assert(
    fc.property(any, draw, (shape, u) => {
      const backoff = new Backoff({ ...shape, random: () => u });
      for (let i = 0; i < COUNT; i++) {
        const base = backoff.duration;
        const delay = backoff.step();
        const most = Math.min(base * (1 + shape.jitter), LONGEST);
        if (!(delay >= base && delay <= most + slack(most))) return false;
      }
      return true;
    }),
  );
});

it("is a whole number of nanoseconds", () => {
  fc.assert(
    fc.property(any, seed, (shape, number) => {
      const backoff = new Backoff({ ...shape, random: seededRandom(number) });
      const exact = firstDelays(COUNT, backoff).filter((delay) => delay * 1e6 < 2 ** 53);
      return exact.every((delay) => {
        const nanoseconds = Math.round(delay * 1e6);
        return [-1, 0, 1].some((offset) => (nanoseconds + offset) / 1e6 === delay);
      });
    }),
  );
});

it("is the same for the same seed", () => {
  fc.assert(
    fc.property(any, seed, (shape, number) => {
      const delays = () =>
        firstDelays(COUNT, new Backoff({ ...shape, random: seededRandom(number) }));
      const [first, second] = [delays(), delays()];
      return first.every((delay, index) => delay === second[index]);
    }),
  );
});

it("has a base that grows by factor for steps growths, up to the cap, and never shrinks", () => {
  fc.assert(
    fc.property(growing, (shape) => {
      const limit = Math.min(shape.cap, LONGEST);
      const backoff = new Backoff(shape);
      for (let i = 0; i < COUNT; i++) {
        const { duration: base, steps } = backoff;
        backoff.step();
        const wanted = steps > 0 ? Math.min(base * shape.factor, limit) : base;
        if (Math.abs(backoff.duration - wanted) > slack(wanted)) return false;
        const firstIsAboveCap = i === 0 && base > limit;
        if (backoff.duration < base && !firstIsAboveCap) return false;
      }
      return true;
    }),
  );
});

it("never exceeds the cap with maximum jitter after the first delay", () => {
  const capped = growing.filter(({ steps }) => steps > 0);
  fc.assert(
    fc.property(capped, draw, (shape, u) => {
      const [, ...later] = firstDelays(COUNT, new Backoff({ ...shape, random: () => u }));
      const most = Math.min(shape.cap * (1 + shape.jitter), LONGEST);
      return later.every((delay) => delay <= most + slack(most));
    }),
  );
});

it("has the mean of the closed form", () => {
  const samples = 2000;
  const shape = fc.record({
    duration: fc.integer({ min: 1, max: 10_000 }),
    factor: fc.double({ min: 1, max: 3, noNaN: true }),
    jitter: fc.double({ min: 0.01, max: 4, noNaN: true }),
    cap: fc.integer({ min: 10_000, max: 1_000_000 }),
  });
  fc.assert(
    fc.property(shape, fc.nat(20), seed, (options, n, number) => {
      const random = seededRandom(number);
      const base = Math.min(options.duration * options.factor ** n, options.cap);
      let sum = 0;
      for (let i = 0; i < samples; i++)
        sum += firstDelays(n + 1, new Backoff({ ...options, random }))[n] as number;
      const expected = base * (1 + options.jitter / 2);
      const deviation = (base * options.jitter) / Math.sqrt(12 * samples);
      return Math.abs(sum / samples - expected) < 7 * deviation + 1e-4;
    }),
    { numRuns: 20 },
  );
});

it("is independent of its delayFunc sequences", () => {
  fc.assert(
    fc.property(any, fc.array(fc.nat(3), { maxLength: COUNT }), (shape, turns) => {
      const options: BackoffOptions = { ...shape, random: () => 0.5 };
      const alone = firstDelays(COUNT, new Backoff(options));
      const shared = new Backoff(options);
      const sequences = [
        shared.delayFunc(),
        shared.delayFunc(),
        shared.delayWithReset(new FakeClock(), 1),
        () => shared.step(),
      ];
      const taken = sequences.map(() => 0);
      return turns.every((turn) => {
        const index = taken[turn] as number;
        taken[turn] = index + 1;
        return sequences[turn]?.() === alone[index];
      });
    }),
  );
});

it("has the same jitter as the function jitter", () => {
  fc.assert(
    fc.property(duration, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), draw, (d, share, u) => {
      const random = () => u;
      return (
        new Backoff({ duration: d, jitter: share, random }).step() === jitter(d, share, random)
      );
    }),
  );
});
