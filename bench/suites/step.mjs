import { createRequire } from "node:module";
import { stopwatch } from "../measure.mjs";

const require = createRequire(import.meta.url);
const CAP = 30_000;

/**
 * A sample: `walks` sequences of so many delays, their making not counted. Each contender that keeps
 * or reads something per sequence has an object of its own for each, as in a program: the first
 * touch of it is part of the cost.
 */
function walking(walks, steps, make, walk) {
  return () => {
    const walkers = Array.from({ length: walks }, make);
    let sum = 0;
    const lap = stopwatch();
    for (let i = 0; i < walks; i++) sum += walk(walkers[i], steps);
    const spent = lap();
    if (!(sum > 0)) throw new Error(`no delays: ${sum}`);
    return { "ns/delay": spent / (walks * steps) };
  };
}

/** For walkers that are asked for one delay after the other. */
function asking(next) {
  return (walker, steps) => {
    let sum = 0;
    for (let i = 0; i < steps; i++) sum += next(walker, i);
    return sum;
  };
}

/** What one would write by hand for endless growth: the state in local variables, nothing called. */
function sameRuleInlined({ duration, factor, jitter, cap }, steps) {
  let sum = 0;
  let base = Math.round(duration * 1e6);
  let growing = true;
  const limit = Math.round(cap * 1e6);
  for (let i = 0; i < steps; i++) {
    let delay = base;
    if (growing) {
      const grown = Math.floor(base * factor);
      growing = grown <= limit;
      base = growing ? grown : limit;
    }
    if (jitter > 0) delay = Math.min(delay + Math.floor(Math.random() * jitter * delay), 2 ** 63);
    sum += delay / 1e6;
  }
  return sum;
}

function millisecondsInlined({ duration, factor, jitter, cap }, steps) {
  let sum = 0;
  let delay = duration;
  for (let i = 0; i < steps; i++) {
    sum += jitter > 0 ? delay * (1 + Math.random() * jitter) : delay;
    delay = Math.min(delay * factor, cap);
  }
  return sum;
}

function contenders(jitter, steps) {
  const shape = { duration: 100, factor: 2, jitter, cap: CAP };
  return {
    "Backoff.step()": async (walks) => {
      const { Backoff } = await import("@holdfast/wait");
      return walking(
        walks,
        steps,
        () => new Backoff(shape),
        asking((backoff) => backoff.step()),
      );
    },
    "bare loop, same rule": (walks) => walking(walks, steps, () => ({ ...shape }), sameRuleInlined),
    "bare loop, milliseconds": (walks) => walking(walks, steps, () => shape, millisecondsInlined),
    "exponential-backoff": (walks) => {
      const { DelayFactory } = require("exponential-backoff/dist/delay/delay.factory.js");
      const options = {
        delayFirstAttempt: true,
        jitter: jitter > 0 ? "full" : "none",
        maxDelay: CAP,
        startingDelay: 100,
        timeMultiple: 2,
      };
      return walking(
        walks,
        steps,
        () => options,
        asking((o, i) => DelayFactory(o, i).jitteredDelay),
      );
    },
    cockatiel: async (walks) => {
      const { ExponentialBackoff, fullJitterGenerator, noJitterGenerator } = await import(
        "cockatiel"
      );
      const generator = jitter > 0 ? fullJitterGenerator : noJitterGenerator;
      const backoff = new ExponentialBackoff({ generator, initialDelay: 100, maxDelay: CAP });
      return walking(
        walks,
        steps,
        () => ({ at: backoff }),
        asking((walker) => {
          walker.at = walker.at.next();
          return walker.at.duration;
        }),
      );
    },
    "node-backoff": (walks) => {
      const { ExponentialStrategy } = require("backoff");
      const options = { initialDelay: 100, maxDelay: CAP, randomisationFactor: jitter };
      return walking(
        walks,
        steps,
        () => new ExponentialStrategy(options),
        asking((strategy) => strategy.next()),
      );
    },
    retry: (walks) => {
      const { createTimeout } = require("retry");
      const options = { factor: 2, minTimeout: 100, maxTimeout: CAP, randomize: jitter > 0 };
      return walking(
        walks,
        steps,
        () => options,
        asking((o, i) => createTimeout(i, o)),
      );
    },
    "backoff-rxjs (no jitter)": (walks) => {
      const { exponentialBackoffDelay, getDelay } = require("backoff-rxjs/dist/utils.js");
      return walking(
        walks,
        steps,
        () => 100,
        asking((initial, i) => getDelay(exponentialBackoffDelay(i, initial), CAP)),
      );
    },
    "rxjs retry({ delay }), its timer()": async (walks) => {
      const { timer } = await import("rxjs");
      const delay = (_error, count) => {
        const base = Math.min(CAP, 100 * 2 ** (count - 1));
        return timer(jitter > 0 ? base * (1 + Math.random() * jitter) : base);
      };
      return walking(
        walks,
        steps,
        () => delay,
        asking((f, i) => (f(undefined, i + 1) === undefined ? 0 : 1)),
      );
    },
    "effect Schedule": async (walks) => {
      const { Duration, Effect, Schedule } = await import("effect");
      const exponential = Schedule.exponential("100 millis", 2);
      const schedule = jitter > 0 ? Schedule.jittered(exponential) : exponential;
      return walking(
        Math.ceil(walks / 64),
        steps,
        () => Effect.runSync(Schedule.toStep(schedule)),
        asking((step) => Duration.toMillis(Effect.runSync(step(0, undefined))[1])),
      );
    },
  };
}

const walks = { sizes: [4_096], quickSizes: [512], unit: "walks of 16 delays" };
const runs = { sizes: [16], quickSizes: [2], unit: "runs of 4,096 delays" };
const samples = { samples: 40, milliseconds: 300 };

/** Whose cost does not depend on how far a backoff has come. */
function inLongRuns(jitter) {
  const all = contenders(jitter, 4_096);
  const names = [
    "Backoff.step()",
    "bare loop, same rule",
    "bare loop, milliseconds",
    "node-backoff",
  ];
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

export const step = {
  id: "a",
  title: "The next delay of a backoff (100 ms, x2, cap 30 s)",
  cases: [
    { id: "jittered", title: "with jitter", ...walks, ...samples, contenders: contenders(0.5, 16) },
    { id: "plain", title: "without jitter", ...walks, ...samples, contenders: contenders(0, 16) },
    {
      id: "jittered, long",
      title: "with jitter",
      ...runs,
      ...samples,
      contenders: inLongRuns(0.5),
    },
    { id: "plain, long", title: "without jitter", ...runs, ...samples, contenders: inLongRuns(0) },
  ],
};
