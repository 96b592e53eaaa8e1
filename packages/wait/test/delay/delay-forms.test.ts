import { Backoff, type BackoffStrategy, jitter, type Random } from "@holdfast/wait";
import {
  AttemptBackoff,
  BinaryExponentialBackoff,
  DecorrelatedJitterBackoff,
  GrpcBackoff,
  SymmetricJitterBackoff,
  seededRandom,
} from "@holdfast/wait/strategies";
import fc from "fast-check";
import { describe, expect, inject, it, vi } from "vitest";
import { ALMOST_ONE } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

/** Options of all forms. */
interface Shape {
  readonly duration: number;
  readonly factor: number;
  readonly jitter: number;
  readonly steps: number;
  readonly cap: number;
  readonly random: Random | undefined;
}

interface Form {
  readonly create: (shape: Shape) => BackoffStrategy;
  /** Whether no delay exceeds the cap, first delay and maximum jitter included. */
  readonly holdsCap: boolean;
  /** First delays with the options of `example`: for a draw of 0, the largest draw, and their means. */
  readonly least: readonly number[];
  readonly most: readonly number[];
  readonly mean: readonly number[];
}

const example = {
  duration: 100,
  factor: 2,
  jitter: 0.5,
  steps: Number.POSITIVE_INFINITY,
  cap: 1_000,
};

// A form refuses options that it does not have.
const endless = ({ steps: _, ...rest }: Shape) => rest;
const withoutJitter = ({ duration, factor, cap, random }: Shape) => {
  return { duration, factor, cap, random };
};

/** All forms of delays. */
const forms = Object.entries<Form>({
  Backoff: {
    create: (shape) => new Backoff(shape),
    holdsCap: false,
    least: [100, 200, 400, 800, 1000, 1000],
    most: [150, 300, 600, 1200, 1500, 1500],
    mean: [125, 250, 500, 1000, 1250, 1250],
  },
  "Backoff, capped after jitter": {
    create: (shape) => new Backoff({ ...shape, capAfterJitter: true }),
    holdsCap: true,
    least: [100, 200, 400, 666.666_666, 666.666_666],
    most: [150, 300, 600, 1000, 1000],
    mean: [125, 250, 500, 833.333_333, 833.333_333],
  },
  "Backoff, constant": {
    create: ({ factor: _, ...shape }) => new Backoff({ ...shape, capAfterJitter: true }),
    holdsCap: true,
    least: [100, 100, 100],
    most: [150, 150, 150],
    mean: [125, 125, 125],
  },
  "jitter()": {
    create: (shape) => ({
      delayFunc: () => () => jitter(shape.duration, shape.jitter, shape.random),
    }),
    holdsCap: false,
    least: [100, 100, 100],
    most: [150, 150, 150],
    mean: [125, 125, 125],
  },
  "Backoff, full jitter": {
    create: (shape) => new Backoff({ ...shape, jitter: "full" }),
    holdsCap: true,
    least: [0, 0, 0, 0, 0],
    most: [100, 200, 400, 800, 1000],
    mean: [50, 100, 200, 400, 500],
  },
  "Backoff, equal jitter": {
    create: (shape) => new Backoff({ ...shape, jitter: "equal" }),
    holdsCap: true,
    least: [50, 100, 200, 400, 500],
    most: [100, 200, 400, 800, 1000],
    mean: [75, 150, 300, 600, 750],
  },
  DecorrelatedJitterBackoff: {
    create: (shape) =>
      new DecorrelatedJitterBackoff({
        ...withoutJitter(shape),
        factor: Math.max(shape.factor, 1),
      }),
    holdsCap: true,
    least: [100, 100, 100, 100, 100],
    most: [200, 400, 800, 1000, 1000],
    // (duration + factor × the previous mean) / 2, below the cap.
    mean: [150, 200, 250],
  },
  SymmetricJitterBackoff: {
    create: (shape) => new SymmetricJitterBackoff(shape),
    holdsCap: false,
    least: [50, 100, 200, 400, 500],
    most: [150, 300, 600, 1200, 1500],
    mean: [100, 200, 400, 800, 1000],
  },
  "SymmetricJitterBackoff, capped after jitter": {
    create: (shape) => new SymmetricJitterBackoff({ ...shape, capAfterJitter: true }),
    holdsCap: true,
    least: [50, 100, 200, 333.333_333, 333.333_333],
    most: [150, 300, 600, 1000, 1000],
    mean: [100, 200, 400, 666.666_666, 666.666_666],
  },
  GrpcBackoff: {
    create: (shape) => new GrpcBackoff(endless(shape)),
    holdsCap: false,
    least: [100, 100, 200, 400, 500],
    most: [100, 300, 600, 1200, 1500],
    mean: [100, 200, 400, 800, 1000],
  },
  "GrpcBackoff, capped after jitter": {
    create: (shape) => new GrpcBackoff({ ...endless(shape), capAfterJitter: true }),
    holdsCap: true,
    least: [100, 100, 200, 333.333_333, 333.333_333],
    most: [100, 300, 600, 1000, 1000],
    mean: [100, 200, 400, 666.666_666, 666.666_666],
  },
  AttemptBackoff: {
    create: (shape) => new AttemptBackoff(withoutJitter(shape)),
    holdsCap: true,
    least: [100, 200, 400, 800, 1000, 1000],
    most: [100, 200, 400, 800, 1000, 1000],
    mean: [100, 200, 400, 800, 1000, 1000],
  },
  "AttemptBackoff, spread": {
    create: (shape) => new AttemptBackoff({ ...withoutJitter(shape), spread: true }),
    holdsCap: true,
    least: [100, 100, 100, 100, 100, 100],
    most: [100, 200, 400, 800, 1000, 1000],
    // Between 100 and 1600, of which 6 in 15 are cut to 1000; then 100 and 3200, 22 in 31.
    mean: [100, 150, 250, 450, (550 * 9 + 1000 * 6) / 15, (550 * 9 + 1000 * 22) / 31],
  },
  BinaryExponentialBackoff: {
    create: ({ duration, random }) =>
      new BinaryExponentialBackoff({
        slotTime: duration,
        backoffLimit: 5,
        attemptLimit: Number.POSITIVE_INFINITY,
        random,
      }),
    holdsCap: false,
    least: [0, 0, 0, 0, 0, 0],
    most: [100, 300, 700, 1500, 3100, 3100],
    mean: [50, 150, 350, 750, 1550, 1550],
  },
});

/** Tolerance: a nanosecond per delay that a delay depends on, and the distance of draws to 1. */
const SLACK = 1e-5;

const shapes = fc.record({
  duration: fc.oneof(
    fc.nat(1e6),
    fc.double({ min: 0, max: 1e14, noNaN: true }),
    fc.constantFrom(0, 1e-6, Number.MAX_VALUE),
  ),
  factor: fc.oneof(
    fc.double({ min: 1, max: 100, noNaN: true }),
    fc.double({ min: Number.MIN_VALUE, max: 1, noNaN: true }),
    fc.constantFrom(1, 2, Number.MAX_VALUE),
  ),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  steps: fc.oneof(fc.nat(40), fc.constant(Number.POSITIVE_INFINITY)),
  cap: fc.oneof(
    fc.double({ min: 1e-6, max: 1e14, noNaN: true }),
    fc.integer({ min: 1, max: 1e6 }),
    fc.constantFrom(Number.MIN_VALUE, Number.MAX_VALUE, Number.POSITIVE_INFINITY),
  ),
});

const draw = fc.oneof(
  fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }),
  fc.constantFrom(0, ALMOST_ONE),
);

/** Draws, about one in fifty of them the smallest or the largest. */
function extremes(random: Random): Random {
  return () => {
    const drawn = random();
    if (drawn < 0.01) return 0;
    return drawn > 0.99 ? ALMOST_ONE : drawn;
  };
}

/** 2^63 ns in milliseconds, the maximum delay. */
const LONGEST = 2 ** 63 / 1e6;

const COUNT = 50;
const MANY_STEPS = inject("isThorough") ? 1_000_000 : 20_000;

describe.each(forms)("%s", (_, { create, holdsCap, least, most, mean }) => {
  it.each([
    { draws: "the least draw", u: 0, delays: least },
    { draws: "the largest draw", u: ALMOST_ONE, delays: most },
  ])("returns the delays of its formula for $draws", ({ u, delays }) => {
    const given = firstDelays(delays.length, create({ ...example, random: () => u }));
    expect(given.filter((delay, n) => Math.abs(delay - (delays[n] as number)) > SLACK)).toEqual([]);
  });

  it("draws from Math.random by default", () => {
    const wanted = firstDelays(COUNT, create({ ...example, random: () => 0.25 }));
    const random = vi.spyOn(Math, "random").mockReturnValue(0.25);
    try {
      expect(firstDelays(COUNT, create({ ...example, random: undefined }))).toEqual(wanted);
    } finally {
      random.mockRestore();
    }
  });

  it("lies between the delays of the smallest and the largest draw", () => {
    fc.assert(
      fc.property(shapes, draw, (shape, u) => {
        const [low, between, high] = [0, u, ALMOST_ONE].map((constant) =>
          firstDelays(COUNT, create({ ...shape, random: () => constant })),
        ) as [number[], number[], number[]];
        return between.every(
          (delay, n) => delay >= (low[n] as number) && delay <= (high[n] as number),
        );
      }),
    );
  });

  it("is never negative or NaN, at most 2^63 ns, and at most the cap for shapes that promise it", () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (shape, seed) => {
        const limit = holdsCap ? Math.min(shape.cap, LONGEST) : LONGEST;
        const random = seededRandom(seed);
        const delays = [
          ...firstDelays(COUNT, create({ ...shape, random })),
          ...firstDelays(COUNT, create({ ...shape, random: () => ALMOST_ONE })),
        ];
        return delays.every((delay) => delay >= 0 && delay <= limit);
      }),
    );
  });

  it.each([
    { cap: Number.POSITIVE_INFINITY, steps: MANY_STEPS },
    { cap: example.cap, steps: MANY_STEPS },
  ])("is never NaN or above its limit in $steps steps to a cap of $cap", ({ cap, steps }) => {
    const limit = holdsCap ? Math.min(cap, LONGEST) : LONGEST;
    const next = create({ ...example, cap, random: extremes(seededRandom(1)) }).delayFunc();
    let wrong = 0;
    for (let step = 0; step < steps; step++) {
      const delay = next();
      if (!(delay >= 0 && delay <= limit)) wrong++;
    }
    expect(wrong).toBe(0);
  });

  it("is the same for the same seed, in every sequence", () => {
    fc.assert(
      fc.property(shapes, fc.integer(), (shape, seed) => {
        const first = firstDelays(COUNT, create({ ...shape, random: seededRandom(seed) }));
        const strategy = create({ ...shape, random: seededRandom(seed) });
        strategy.delayFunc();
        const second = firstDelays(COUNT, strategy);
        return first.every((delay, n) => delay === second[n]);
      }),
    );
  });

  it("has independent sequences", () => {
    fc.assert(
      fc.property(shapes, draw, (shape, u) => {
        const strategy = create({ ...shape, random: () => u });
        const alone = firstDelays(COUNT, strategy);
        const one = strategy.delayFunc();
        const other = strategy.delayFunc();
        return alone.every((delay) => one() === delay && other() === delay);
      }),
    );
  });

  it("has the mean of its closed form, within 5 standard errors", () => {
    const samples = inject("isThorough") ? 20_000 : 2_000;
    const random = seededRandom(31);
    const strategy = create({ ...example, random });
    const sums = mean.map(() => 0);
    const squares = mean.map(() => 0);
    for (let sample = 0; sample < samples; sample++) {
      for (const [n, delay] of firstDelays(mean.length, strategy).entries()) {
        sums[n] = (sums[n] as number) + delay;
        squares[n] = (squares[n] as number) + delay ** 2;
      }
    }
    const errors = mean.map((wanted, n) => {
      const average = (sums[n] as number) / samples;
      const variance = Math.max((squares[n] as number) / samples - average ** 2, 0);
      return Math.abs(average - wanted) - 5 * Math.sqrt(variance / samples);
    });
    expect(errors.filter((error) => error > SLACK)).toEqual([]);
  });
});

it.each(forms.filter(([name]) => /^(Backoff$|Backoff, c)/.test(name)))(
  "%s draws nothing without jitter",
  (_, { create, least }) => {
    const random = vi.fn(() => 0.5);
    const [first] = firstDelays(COUNT, create({ ...example, jitter: 0, random }));
    expect([first, random.mock.calls.length]).toEqual([least[0], 0]);
  },
);

describe("the forms of jitter by name", () => {
  const options = { duration: 100, factor: 2, cap: 350 };
  const delaysOf = (strategy: BackoffStrategy, count = 5): number[] => {
    const next = strategy.delayFunc();
    return Array.from({ length: count }, next);
  };

  it.each([
    ["full", 0, [0, 0, 0, 0, 0]],
    ["full", 0.5, [50, 100, 175, 175, 175]],
    ["equal", 0, [50, 100, 175, 175, 175]],
    ["equal", 0.5, [75, 150, 262.5, 262.5, 262.5]],
  ] as const)("draws %s jitter below the delay: a draw of %d", (jitter, draw, delays) => {
    expect(delaysOf(new Backoff({ ...options, jitter, random: () => draw }))).toEqual(delays);
  });

  it.each(["full", "equal"] as const)(
    "never exceeds the cap, the first delay included: %s",
    (jitter) => {
      const random = () => ALMOST_ONE;
      const delays = delaysOf(
        new Backoff({ duration: 500, factor: 2, cap: 300, jitter, random }),
        3,
      );
      expect(delays.every((delay) => delay <= 300 && delay > 299)).toBe(true);
    },
  );
});

// node-retry#90: `maxTimeout: undefined` makes every delay NaN, which a timer treats as 1 ms.
it("does not become NaN for an option of undefined", () => {
  const absent = { factor: undefined, cap: undefined, jitter: undefined, random: undefined };
  const forms = [
    new Backoff({ duration: 100, ...absent }),
    new SymmetricJitterBackoff({ duration: 100, ...absent }),
    new GrpcBackoff({ duration: 100, ...absent }),
    new AttemptBackoff({ duration: 100, ...absent }),
  ];
  expect(forms.flatMap((form) => firstDelays(50, form)).filter(Number.isNaN)).toEqual([]);
});

// node-retry#84, p-retry#58: `retries: Infinity` fills the heap with delays before the first call.
it("does not compute delays in advance", () => {
  let drawn = 0;
  const random = () => {
    drawn++;
    return 0.5;
  };
  const next = new Backoff({ duration: 1, jitter: "full", random }).delayFunc();
  expect(drawn).toBe(0);
  next();
  expect(drawn).toBe(1);
});

// @lifeomic/attempt: `maxDelay` is ignored unless `factor` is set.
it("limits a constant delay with capAfterJitter", () => {
  const backoff = new Backoff({ duration: 900, cap: 300, capAfterJitter: true });
  expect(firstDelays(2, backoff)).toEqual([300, 300]);
});
