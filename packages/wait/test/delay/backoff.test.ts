import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffOptions } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ALMOST_ONE, draws } from "../draws.ts";
import { firstDelays } from "../first-delays.ts";

/** 2^63 ns in milliseconds. */
const LONGEST = 2 ** 63 / 1e6;

interface Case {
  readonly options: BackoffOptions;
  readonly delays: readonly number[];
}

describe("step without jitter", () => {
  it.each(
    Object.entries<Case>({
      // The rows of TestBackoff_Step, in milliseconds.
      "is constant without a factor": { options: { duration: 1000 }, delays: [1000, 1000] },
      "is constant without a factor, with steps of 0": {
        options: { duration: 1000, steps: 0 },
        delays: [1000, 1000, 1000],
      },
      "is constant without a factor, with steps of 1": {
        options: { duration: 1000, steps: 1 },
        delays: [1000, 1000, 1000],
      },
      "is constant at a factor of 1": {
        options: { duration: 1000, factor: 1, steps: 1 },
        delays: [1000, 1000, 1000],
      },
      "grows by its factor": {
        options: { duration: 1000, factor: 2, steps: 3 },
        delays: [1000, 2000, 4000],
      },
      "ends at the cap": {
        options: { duration: 1000, factor: 2, steps: 3, cap: 3000 },
        delays: [1000, 2000, 3000],
      },

      "grows for steps growths, then stays": {
        options: { duration: 1, factor: 2, steps: 3 },
        delays: [1, 2, 4, 8, 8, 8],
      },
      "does not grow with steps of 0": {
        options: { duration: 1, factor: 2, steps: 0 },
        delays: [1, 1, 1],
      },
      "grows without end by default": {
        options: { duration: 1, factor: 10 },
        delays: [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7],
      },
      "reaches a cap that equals a growth": {
        options: { duration: 1, factor: 2, cap: 4 },
        delays: [1, 2, 4, 4, 4],
      },
      "has a first delay above the cap, and the cap from then on": {
        options: { duration: 10, factor: 2, cap: 3 },
        delays: [10, 3, 3],
      },
      "shrinks at a factor below 1": {
        options: { duration: 100, factor: 0.5, steps: 3 },
        delays: [100, 50, 25, 12.5, 12.5],
      },
      "goes to the cap first if it shrinks from above it": {
        options: { duration: 100, factor: 0.5, cap: 30 },
        delays: [100, 30, 30],
      },
      "ignores the cap without a factor": {
        options: { duration: 10, cap: 3 },
        delays: [10, 10, 10],
      },
      "rounds down to whole nanoseconds": {
        options: { duration: 0.000_003, factor: 1.5 },
        delays: [0.000_003, 0.000_004, 0.000_006, 0.000_009, 0.000_013],
      },
      "shrinks to 0 and stays there": {
        options: { duration: 0.000_002, factor: 0.5 },
        delays: [0.000_002, 0.000_001, 0, 0],
      },
      "stays 0 from a duration of 0": { options: { duration: 0, factor: 2 }, delays: [0, 0] },
      "has fractions of a millisecond": {
        options: { duration: 0.4, factor: 2 },
        delays: [0.4, 0.8, 1.6],
      },
      "exceeds the maximum of a native timer": {
        options: { duration: 2 ** 31, factor: 2 },
        delays: [2 ** 31, 2 ** 32, 2 ** 33],
      },
      "ends at 2^63 ns instead of a negative delay as in Go": {
        options: { duration: 1e12, factor: 3 },
        delays: [1e12, 3e12, 9e12, LONGEST, LONGEST],
      },
      "ends at 2^63 ns from a first delay beyond it": {
        options: { duration: Number.MAX_VALUE, factor: 2 },
        delays: [LONGEST, LONGEST],
      },
      "ends at the cap on an overflow instead of a negative delay as in Go": {
        options: { duration: 3_600_000, factor: 1e300, cap: 60_000 },
        delays: [3_600_000, 60_000, 60_000],
      },
      "limits the first delay with capAfterJitter": {
        options: { duration: 10, factor: 2, cap: 3, capAfterJitter: true },
        delays: [3, 3],
      },
      "treats undefined as the default": {
        options: {
          duration: 7,
          factor: undefined,
          jitter: undefined,
          steps: undefined,
          cap: undefined,
          capAfterJitter: undefined,
          random: undefined,
        },
        delays: [7, 7],
      },
    }),
  )("%s", (_, { options, delays }) => {
    const backoff = new Backoff(options);
    expect(delays.map(() => backoff.step())).toEqual(delays);
  });
});

describe("step with jitter", () => {
  it.each(
    Object.entries<Case>({
      "adds a share of the delay that grows with it": {
        options: { duration: 100, factor: 2, jitter: 0.5, random: () => 0.5 },
        delays: [125, 250, 500, 1000],
      },
      "adds nothing for a draw of 0": {
        options: { duration: 100, factor: 2, jitter: 0.5, random: () => 0 },
        delays: [100, 200, 400],
      },
      "draws for each delay and never accumulates jitter": {
        options: { duration: 100, factor: 2, jitter: 1, random: draws(0.5, 0, 0.25) },
        delays: [150, 200, 500, 1200, 1600, 4000],
      },
      "adds jitter to the cap": {
        options: { duration: 100, factor: 2, cap: 300, jitter: 0.5, random: () => 0.5 },
        delays: [125, 250, 375, 375],
      },
      "ends growth below the cap with capAfterJitter": {
        options: {
          duration: 100,
          factor: 2,
          cap: 300,
          jitter: 0.5,
          capAfterJitter: true,
          random: draws(0, 0.5),
        },
        delays: [100, 250, 200, 250, 200],
      },
      "limits the first delay and its jitter with capAfterJitter": {
        options: {
          duration: 900,
          factor: 2,
          cap: 300,
          jitter: 0.5,
          capAfterJitter: true,
          random: draws(0, ALMOST_ONE),
        },
        delays: [200, 299.999_999, 200],
      },
      "limits a constant delay and its jitter with capAfterJitter": {
        options: {
          duration: 900,
          cap: 300,
          jitter: 0.5,
          capAfterJitter: true,
          random: draws(0, 0.5),
        },
        delays: [200, 250, 200],
      },
      "keeps within a cap of years to the last digit": {
        options: {
          duration: 1e12,
          cap: 70_385_839_392.082_76,
          jitter: 0.371_066_988_407_589,
          capAfterJitter: true,
          random: () => ALMOST_ONE,
        },
        delays: [70_385_839_392.082_76],
      },
      "adds jitter after growth has ended": {
        options: { duration: 100, factor: 2, steps: 1, jitter: 0.5, random: draws(0, 0.5) },
        delays: [100, 250, 200, 250],
      },
      "adds jitter to a constant delay": {
        options: { duration: 100, jitter: 4, random: draws(0, 0.5, 0.75) },
        delays: [100, 300, 400],
      },
      "multiplies the draw by the jitter first, as in Go": {
        options: { duration: 1621.877, jitter: 0.7, random: () => 0.71 },
        delays: [2427.949_868],
      },
      "rounds down to whole nanoseconds": {
        options: { duration: 0.000_001, jitter: 1, random: () => ALMOST_ONE },
        delays: [0.000_001],
      },
      "never adds beyond 2^63 ns": {
        options: { duration: 9e12, jitter: Number.MAX_VALUE, random: () => ALMOST_ONE },
        delays: [LONGEST, LONGEST],
      },
      "adds nothing to 0": {
        options: { duration: 0, jitter: Number.MAX_VALUE, random: () => ALMOST_ONE },
        delays: [0, 0],
      },
    }),
  )("%s", (_, { options, delays }) => {
    const backoff = new Backoff(options);
    expect(delays.map(() => backoff.step())).toEqual(delays);
  });

  // The two jittered rows of TestBackoff_Step, which accepts delays that are too long.
  it.each([
    { options: { duration: 1000, factor: 2, steps: 6, jitter: 4 }, bases: [1, 2, 4, 8, 16, 32] },
    { options: { duration: 2000, factor: 2, steps: 2, cap: 3000, jitter: 0.5 }, bases: [2, 3, 3] },
  ])("lies between $bases s and the same with maximum jitter", ({ options, bases }) => {
    for (let seed = 0; seed < 5; seed++) {
      const backoff = new Backoff({ ...options, random: seededRandom(seed) });
      for (const base of bases) {
        const share = (backoff.step() / 1000 - base) / base;
        expect(share).toBeGreaterThan(0);
        expect(share).toBeLessThan(options.jitter);
      }
    }
  });

  it("draws once per step, and not at all without jitter", () => {
    const random = vi.fn(() => 0.5);
    firstDelays(3, new Backoff({ duration: 100, jitter: 0.1, random }));
    expect(random).toHaveBeenCalledTimes(3);
    firstDelays(3, new Backoff({ duration: 100, factor: 2, random }));
    expect(random).toHaveBeenCalledTimes(3);
  });

  it("draws from Math.random by default", () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.25);
    try {
      expect(new Backoff({ duration: 100, jitter: 1 }).step()).toBe(125);
    } finally {
      random.mockRestore();
    }
  });
});

it("is a finite number from 0 to 2^63 ns for a million steps", () => {
  const backoff = new Backoff({ duration: 1, factor: 1.01, jitter: 3, random: seededRandom(1) });
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let odd = 0;
  for (let i = 0; i < 1e6; i++) {
    const delay = backoff.step();
    if (!(delay >= 1 && delay <= LONGEST)) odd++;
    least = Math.min(least, delay);
    most = Math.max(most, delay);
  }
  expect(odd).toBe(0);
  expect(least).toBeLessThan(4);
  expect(most).toBe(LONGEST);
});

describe("duration and steps", () => {
  const stateOf = ({ duration, steps }: Backoff) => ({ duration, steps });

  interface StateCase {
    readonly options: BackoffOptions;
    readonly states: readonly Pick<Backoff, "duration" | "steps">[];
  }

  it.each(
    Object.entries<StateCase>({
      "count down as the delay grows": {
        options: { duration: 100, factor: 2, steps: 2 },
        states: [
          { duration: 100, steps: 2 },
          { duration: 200, steps: 1 },
          { duration: 400, steps: 0 },
          { duration: 400, steps: 0 },
        ],
      },
      "count down without growth": {
        options: { duration: 100, steps: 1 },
        states: [
          { duration: 100, steps: 1 },
          { duration: 100, steps: 0 },
          { duration: 100, steps: 0 },
        ],
      },
      "end with the growth that passes the cap": {
        options: { duration: 100, factor: 2, steps: 9, cap: 300 },
        states: [
          { duration: 100, steps: 9 },
          { duration: 200, steps: 8 },
          { duration: 300, steps: 0 },
        ],
      },
      "continue when a growth equals the cap": {
        options: { duration: 100, factor: 3, steps: 9, cap: 300 },
        states: [
          { duration: 100, steps: 9 },
          { duration: 300, steps: 8 },
          { duration: 300, steps: 0 },
        ],
      },
      "are infinite by default, and ignore jitter": {
        options: { duration: 0.25, factor: 2, jitter: 1, random: () => 0.5 },
        states: [
          { duration: 0.25, steps: Number.POSITIVE_INFINITY },
          { duration: 0.5, steps: Number.POSITIVE_INFINITY },
        ],
      },
    }),
  )("%s", (_, { options, states }) => {
    const backoff = new Backoff(options);
    const seen = states.map(() => {
      const state = stateOf(backoff);
      backoff.step();
      return state;
    });
    expect(seen).toEqual(states);
  });
});

describe("delayFunc", () => {
  it("returns the delays of step, jitter included", () => {
    const options = { duration: 100, factor: 3, steps: 4, cap: 5000, jitter: 0.5 };
    const stepped = new Backoff({ ...options, random: draws(0, 0.25, 0.5) });
    const taken = new Backoff({ ...options, random: draws(0, 0.25, 0.5) });
    expect(firstDelays(8, taken)).toEqual(firstDelays(8, () => stepped.step()));
  });

  it("advances neither the backoff nor another sequence", () => {
    const backoff = new Backoff({ duration: 100, factor: 2 });
    const first = backoff.delayFunc();
    const second = backoff.delayFunc();
    expect([first(), first(), first()]).toEqual([100, 200, 400]);
    expect([second(), second()]).toEqual([100, 200]);
    expect([backoff.step(), backoff.step()]).toEqual([100, 200]);
    expect(first()).toBe(800);
  });

  it("continues from the current state of the backoff, steps and cap included", () => {
    const backoff = new Backoff({ duration: 100, factor: 2, steps: 4, cap: 1000 });
    backoff.step();
    backoff.step();
    expect(firstDelays(4, backoff)).toEqual([400, 800, 1000, 1000]);
    backoff.step();
    expect(backoff.steps).toBe(1);
  });
});

describe("iterating", () => {
  it("yields the delays of a new delayFunc each time", () => {
    const backoff = new Backoff({ duration: 100, factor: 2, cap: 300 });
    const firstFour = () => {
      const seen: number[] = [];
      for (const delay of backoff) if (seen.push(delay) === 4) break;
      return seen;
    };
    expect(firstFour()).toEqual([100, 200, 300, 300]);
    expect(firstFour()).toEqual([100, 200, 300, 300]);
    expect(backoff.duration).toBe(100);
  });
});

describe("delayWithReset", () => {
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
  });

  /** Delay of each round, drawn after a pause of `pauses[round]`. */
  function afterPauses(
    options: BackoffOptions,
    resetInterval: number,
    pauses: readonly number[],
  ): number[] {
    const next = new Backoff(options).delayWithReset(clock, resetInterval);
    return pauses.map((pause) => {
      clock.stepSync(pause);
      return next();
    });
  }

  interface ResetCase extends Case {
    readonly resetInterval: number;
    readonly pauses: readonly number[];
  }

  it.each(
    Object.entries<ResetCase>({
      "grows to the cap and starts over later (TestBackoffDelayWithResetExponential)": {
        options: { duration: 1, factor: 2, steps: 10, cap: 10 },
        resetInterval: 10,
        pauses: [0, 0, 0, 0, 0, 0, 0, 11],
        delays: [1, 2, 4, 8, 10, 10, 10, 1],
      },
      "is constant with an interval of 0 (TestBackoffDelayWithResetEmpty)": {
        options: { duration: 1, factor: 2, steps: 10, cap: 10 },
        resetInterval: 0,
        pauses: [0, 0, 0, 0, 0, 0, 0, 11],
        delays: [1, 1, 1, 1, 1, 1, 1, 1],
      },
      "jitters (TestBackoffDelayWithResetJitter)": {
        options: { duration: 1, jitter: 1, random: draws(0, 0.5, 0.75) },
        resetInterval: 0,
        pauses: [0, 0, 0, 1],
        delays: [1, 1.5, 1.75, 1],
      },
      "does not start over at the interval itself": {
        options: { duration: 100, factor: 2 },
        resetInterval: 1000,
        pauses: [0, 500, 500],
        delays: [100, 200, 400],
      },
      "starts over a nanosecond after the interval": {
        options: { duration: 100, factor: 2 },
        resetInterval: 1000,
        pauses: [0, 500, 500.000_001],
        delays: [100, 200, 100],
      },
      "starts over periodically, also for a busy caller": {
        options: { duration: 100, factor: 2 },
        resetInterval: 1000,
        pauses: [400, 400, 400, 400, 400, 400, 400, 400],
        delays: [100, 200, 100, 200, 400, 100, 200, 400],
      },
      "restores its steps": {
        options: { duration: 100, factor: 2, steps: 1 },
        resetInterval: 1000,
        pauses: [0, 0, 0, 1001, 0, 0],
        delays: [100, 200, 200, 100, 200, 200],
      },
      "leaves a constant delay as it is": {
        options: { duration: 100 },
        resetInterval: 1000,
        pauses: [0, 500, 5000],
        delays: [100, 100, 100],
      },
    }),
  )("%s", (_, { options, resetInterval, pauses, delays }) => {
    expect(afterPauses(options, resetInterval, pauses)).toEqual(delays);
  });

  it("measures the interval from its own call, not from the first delay", () => {
    clock.stepSync(5000);
    const next = new Backoff({ duration: 100, factor: 2 }).delayWithReset(clock, 1000);
    clock.stepSync(600);
    expect([next(), next()]).toEqual([100, 200]);
    clock.stepSync(401);
    expect(next()).toBe(100);
  });

  it("starts over at the state of the backoff at the call, and does not advance it", () => {
    const backoff = new Backoff({ duration: 100, factor: 2, steps: 3 });
    backoff.step();
    const next = backoff.delayWithReset(clock, 1000);
    expect([next(), next(), next(), next()]).toEqual([200, 400, 800, 800]);
    clock.stepSync(1001);
    expect([next(), next()]).toEqual([200, 400]);
    expect([backoff.duration, backoff.steps]).toEqual([200, 2]);
  });

  it("ignores a jump of the wall clock", () => {
    const next = new Backoff({ duration: 100, factor: 2 }).delayWithReset(clock, 1000);
    expect(next()).toBe(100);
    clock.setSystemTime(clock.now() + 1e9);
    expect(next()).toBe(200);
  });
});

it("keeps its delayFunc sequences within the cap, to the last digit", () => {
  const cap = 70_385_839_392.082_76;
  const shape = { duration: 1e12, cap, jitter: 0.371_066_988_407_589, random: () => ALMOST_ONE };
  const backoff = new Backoff({ ...shape, capAfterJitter: true });
  expect(firstDelays(1, backoff)).toEqual([cap]);
});
