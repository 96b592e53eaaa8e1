import { Backoff, type BackoffStrategy, type Random } from "@holdfast/wait";
import * as strategies from "@holdfast/wait/strategies";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import {
  applyPreset,
  type Draft,
  draftOf,
  fragmentOf,
  PRESETS,
  START,
} from "../../src/playground/draft.ts";
import { drawDelays, drawHerd } from "../../src/playground/draw.ts";
import { type Settings, settingsOf } from "../../src/playground/settings.ts";
import { expressionOf, programOf, STRATEGIES } from "../../src/playground/shape.ts";

function valid(change: Partial<Draft> = {}): Settings {
  const checked = settingsOf({ ...START, ...change });
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.settings;
}

function problemsOf(change: Partial<Draft>): object {
  const checked = settingsOf({ ...START, ...change });
  return "problems" in checked ? checked.problems : {};
}

/** Runs the code of the page: the strategy that it hands to `retry`, on a given randomness. */
function delaysOfCode(program: string, random: Random): number[] {
  const classes = Object.entries(strategies)
    .filter(([name]) => name.endsWith("Backoff"))
    .map(([name, Class]) => {
      const Original = Class as unknown as new (options: object) => BackoffStrategy;
      const Seeded = class extends Original {
        constructor(options: object) {
          super({ ...options, random });
        }
      };
      return [name, Seeded] as const;
    });
  const body = program.replaceAll(/^import .*$/gm, "").replace("await retry", "return retry");
  const run = new Function("retry", "call", ...classes.map(([name]) => name), body);
  const { backoff } = run(
    (_call: unknown, options: unknown) => options,
    undefined,
    ...classes.map(([, Class]) => Class),
  );
  const strategy = "delayFunc" in backoff ? backoff : new Backoff({ ...backoff, random });
  const next = strategy.delayFunc();
  return Array.from({ length: 10 }, () => next());
}

const forms = Object.entries(STRATEGIES).flatMap(([strategy, { jitters }]) =>
  (jitters.length === 0 ? ["full"] : jitters).map((jitter) => ({ strategy, jitter })),
);

describe("the code of the playground", () => {
  it.each(forms)("draws the delays: $strategy, $jitter", (change) => {
    const settings = valid({ ...change, seed: "7" });
    const drawn = drawDelays(settings).ranges.map((range) => range.drawn);
    expect(delaysOfCode(programOf(settings.shape), seededRandom(7))).toEqual(drawn);
  });

  it.each<{ change: Partial<Draft>; code: string }>([
    { change: {}, code: "new Backoff({ duration: 100, factor: 2, cap: 30_000, jitter: 0.5 })" },
    {
      change: { jitter: "full", cap: "Infinity", steps: "3" },
      code: 'new Backoff({ duration: 100, factor: 2, steps: 3, jitter: "full" })',
    },
    {
      change: { jitter: "symmetric", cap: "Infinity" },
      code: "new SymmetricJitterBackoff({ duration: 100, factor: 2, jitter: 0.5, cap: Infinity })",
    },
    {
      change: { strategy: "constant", jitter: "none" },
      code: "new Backoff({ duration: 100 })",
    },
    {
      change: { strategy: "constant", jitter: "equal", duration: "1_234.5" },
      code: 'new Backoff({ duration: 1_234.5, jitter: "equal" })',
    },
  ])("omits defaults: $code", ({ change, code }) => {
    expect(expressionOf(valid(change).shape)).toBe(code);
  });
});

describe("the delays of the playground", () => {
  it("has the range of each delay and the run of the seed", () => {
    const { ranges } = drawDelays(valid({ jitter: "equal" }));
    expect(ranges[2]).toEqual({
      low: 200,
      high: expect.closeTo(400, 3),
      drawn: expect.any(Number),
    });
    for (const { low, high, drawn } of ranges) {
      expect(drawn).toBeGreaterThanOrEqual(low);
      expect(drawn).toBeLessThanOrEqual(high);
    }
  });

  it("is the same for the same seed, and another for another", () => {
    const drawn = (seed: string) => drawDelays(valid({ seed })).drawing;
    expect(drawn("3")).toEqual(drawn("3"));
    expect(drawn("3")).not.toEqual(drawn("4"));
  });

  it("draws delays of 0", () => {
    const { drawing } = drawDelays(valid({ duration: "0" }));
    expect(drawing.wide + drawing.narrow).not.toMatch(/NaN|Infinity/);
  });
});

describe("the herd of the playground", () => {
  const few = { clients: "50", outage: "2" };

  it("is the same for the same seed, and another for another", async () => {
    const drawn = async (seed: string) => (await drawHerd(valid({ ...few, seed }))).drawing;
    expect(await drawn("3")).toEqual(await drawn("3"));
    expect(await drawn("3")).not.toEqual(await drawn("4"));
  });

  it("serves every client", async () => {
    const { load } = await drawHerd(valid(few));
    const served = load.intervals.reduce((sum, { accepted }) => sum + accepted, 0);
    expect(served).toBe(50);
  });

  it.each([
    { duration: "1", message: "more than 150000 calls" },
    { duration: "0", message: "timers fired without time moving" },
  ])("ends when delays of $duration ms make too many calls", async ({ duration, message }) => {
    const settings = valid({
      ...few,
      strategy: "constant",
      jitter: "none",
      duration,
      outage: "60",
    });
    await expect(drawHerd(settings)).rejects.toThrow(message);
  });
});

describe("a link to the playground", () => {
  it("holds every setting", () => {
    const draft = { ...START, strategy: "constant", duration: "1 & 2", seed: "9" };
    expect(draftOf(`#${fragmentOf(draft)}`)).toEqual({ draft, unknown: [] });
  });

  it("keeps defaults for missing settings, and names unknown ones", () => {
    const { draft, unknown } = draftOf("#seed=5&size=3&constructor=1");
    expect(draft).toEqual({ ...START, seed: "5" });
    expect(unknown).toEqual(["size", "constructor"]);
  });
});

it.each(PRESETS)("the preset $title is valid, and keeps the outage and the seed", (preset) => {
  const own = { clients: "7", outage: "3", seed: "5" };
  const draft = applyPreset({ ...START, ...own, duration: "wrong" }, preset);
  expect(draft).toMatchObject(own);
  expect(problemsOf(draft)).toEqual({});
});

it.each<{ change: Partial<Draft>; problems: object }>([
  { change: { duration: "abc" }, problems: { duration: 'duration must be a number, not "abc"' } },
  { change: { duration: " " }, problems: { duration: 'duration must be a number, not " "' } },
  {
    change: { duration: "-1" },
    problems: { duration: expect.stringMatching(/^duration must be .* at least 0.*-1/) },
  },
  {
    change: { factor: "0", cap: "1e3" },
    problems: { factor: expect.stringMatching(/^factor must be .*above 0.*0/) },
  },
  { change: { cap: "0" }, problems: { cap: expect.stringMatching(/^cap must be .*above 0.*0/) } },
  { change: { steps: "1.5" }, problems: { steps: expect.stringMatching(/^steps must be .*1\.5/) } },
  { change: { share: "-1" }, problems: { share: expect.stringMatching(/^jitter must be .*-1/) } },
  {
    change: { strategy: "magic" },
    problems: {
      strategy: 'strategy must be one of exponential, constant, decorrelated, not "magic"',
    },
  },
  {
    change: { strategy: "constant", jitter: "symmetric" },
    problems: { jitter: 'jitter must be one of none, share, full, equal, not "symmetric"' },
  },
  {
    change: { clients: "2001", outage: "0", seed: "0.5" },
    problems: {
      clients: "clients must be a whole number from 1 to 2000, not 2001",
      outage: "outage must be a whole number from 1 to 60, not 0",
      seed: "seed must be a whole number from 0 to 2147483647, not 0.5",
    },
  },
  {
    change: { duration: "x".repeat(100) },
    problems: { duration: `duration must be a number, not "${"x".repeat(40)}…"` },
  },
])("names the mistake in $change", ({ change, problems }) => {
  expect(problemsOf(change)).toEqual(problems);
});

it("omits settings that the strategy does not use", () => {
  expect(problemsOf({ strategy: "constant", factor: "x", cap: "x", steps: "x" })).toEqual({});
  expect(problemsOf({ jitter: "none", share: "x" })).toEqual({});
});
