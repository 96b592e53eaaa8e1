import { createRequire } from "node:module";
import { liveBytes, median, stopwatch } from "../measure.mjs";

const require = createRequire(import.meta.url);
const refused = new Error("refused");
const STRETCH = 100;
const STRETCHES = 40;

/**
 * Replaces the host's timers, before anything that keeps them is loaded, by ones that fire at once.
 * What a contender does besides waiting is left. Timers of more than a second are time limits.
 */
function instantTimers() {
  const arm = (fire, delay) => {
    const handle = { armed: true, ref: () => handle, unref: () => handle };
    if (!(delay > 1_000)) queueMicrotask(() => handle.armed && fire());
    return handle;
  };
  const disarm = (handle) => {
    if (handle) handle.armed = false;
  };
  globalThis.setTimeout = arm;
  globalThis.clearTimeout = disarm;
  // That of rxjs, which clears it after the first time.
  globalThis.setInterval = arm;
  globalThis.clearInterval = disarm;
}

/** A sample: one call that fails so often and then succeeds; CPU time for each failure. */
function failing(load) {
  return async (count) => {
    instantTimers();
    const run = await load();
    return async () => {
      let left = count;
      const fn = async () => {
        if (left-- > 0) throw refused;
        return "done";
      };
      const lap = stopwatch();
      const value = await run(fn, count);
      const spent = lap();
      if (value !== "done" || left !== -1) throw new Error(`${value}, ${left} failures left`);
      return { "ns/attempt": spent / count };
    };
  };
}

/** The same for a function that says no so often. Nothing is thrown. */
function refusing(load) {
  return async (count) => {
    instantTimers();
    const run = await load();
    return async () => {
      let left = count;
      const lap = stopwatch();
      await run(async () => left-- <= 0);
      const spent = lap();
      if (left !== -1) throw new Error(`${left} polls left`);
      return { "ns/poll": spent / count };
    };
  };
}

/**
 * A sample: what a failed attempt allocates, the median over stretches of the growth of the heap, most
 * of which no collection interrupts; and what is still live at the last of so many attempts, while the
 * call is under way, for each.
 */
function weighing(load) {
  return async (count) => {
    instantTimers();
    const run = await load();
    const weigh = async (attempts) => {
      const before = liveBytes();
      const growths = [];
      let held = 0;
      let attempt = 0;
      let last = 0;
      const fn = async () => {
        attempt++;
        if (attempt % STRETCH === 0 && attempt <= STRETCHES * STRETCH) {
          const { heapUsed } = process.memoryUsage();
          growths.push(heapUsed - last);
          last = heapUsed;
        }
        if (attempt <= attempts) throw refused;
        held = liveBytes() - before;
        return "done";
      };
      await run(fn, attempts);
      return {
        "bytes/attempt": median(growths.slice(STRETCHES / 2)) / STRETCH,
        "kept bytes/attempt": held / attempts,
      };
    };
    await weigh(STRETCHES * STRETCH);
    return () => weigh(count);
  };
}

/** A loop as one writes it, with the delays of `Backoff` and a sleep on the same clock. */
async function bareLoop(stoppable) {
  const { realClock } = await import("@holdfast/clock");
  const { Backoff } = await import("@holdfast/wait");
  return async (fn) => {
    const { signal } = new AbortController();
    const options = stoppable ? { signal } : {};
    const next = new Backoff({ duration: 0 }).delayFunc();
    for (let attempt = 1; ; attempt++) {
      try {
        return await fn({ attempt, signal });
      } catch {
        await realClock.sleep(next(), options);
      }
    }
  };
}

async function ours(options = {}) {
  const { retry } = await import("@holdfast/wait");
  const backoff = { duration: 0 };
  return (fn) => retry(fn, { backoff, retries: Number.POSITIVE_INFINITY, ...options });
}

/**
 * Each calls a function again, after a wait, until it succeeds. Delays are 0 on the clock from here,
 * which arms a timer for them, too, and 1 ms elsewhere, because some do not for 0.
 */
const RETRIES = {
  "bare loop, sleep": () => bareLoop(false),
  "bare loop, sleep that a signal ends": () => bareLoop(true),
  retry: () => ours(),
  "retry, signal": () => ours({ signal: new AbortController().signal }),
  "retry, onRetry": () => ours({ onRetry: () => {} }),
  "retry, attemptTimeout": () => ours({ attemptTimeout: 60_000 }),
  "p-retry": async () => {
    const { default: pRetry } = await import("p-retry");
    return (fn, retries) => pRetry(fn, { retries, minTimeout: 1, factor: 1 });
  },
  "p-retry, signal": async () => {
    const { default: pRetry } = await import("p-retry");
    const { signal } = new AbortController();
    return (fn, retries) => pRetry(fn, { retries, minTimeout: 1, factor: 1, signal });
  },
  cockatiel: async () => {
    const { ConstantBackoff, handleAll, retry } = await import("cockatiel");
    const backoff = new ConstantBackoff(1);
    return (fn, maxAttempts) => retry(handleAll, { maxAttempts, backoff }).execute(fn);
  },
  "async-retry": () => {
    const asyncRetry = require("async-retry");
    return (fn, retries) => asyncRetry(fn, { retries, minTimeout: 1, factor: 1 });
  },
  "exponential-backoff": () => {
    const { backOff } = require("exponential-backoff");
    return (fn, retries) =>
      backOff(fn, { numOfAttempts: retries + 1, startingDelay: 1, timeMultiple: 1 });
  },
  effect: async () => {
    const { Effect, Schedule } = await import("effect");
    const schedule = Schedule.spaced(1);
    // Told what the error is, it does not make one of its own, whose stack would cost more than a retry.
    const work = (fn) => Effect.tryPromise({ try: fn, catch: (error) => error });
    return (fn, times) => Effect.runPromise(Effect.retry(work(fn), { times, schedule }));
  },
  "rxjs retry": async () => {
    const { defer, firstValueFrom, retry } = await import("rxjs");
    return (fn, count) => firstValueFrom(defer(fn).pipe(retry({ count, delay: 1 })));
  },
};

const POLLS = {
  "bare loop, sleep": async () => {
    const { realClock } = await import("@holdfast/clock");
    return async (fn) => {
      while (!(await fn())) await realClock.sleep(0);
    };
  },
  poll: async () => {
    const { poll } = await import("@holdfast/wait");
    return (fn) => poll(fn, { backoff: { duration: 0 } });
  },
  "poll, timeout": async () => {
    const { poll } = await import("@holdfast/wait");
    return (fn) => poll(fn, { backoff: { duration: 0 }, timeout: 60_000 });
  },
  "p-wait-for": async () => {
    const { default: pWaitFor } = await import("p-wait-for");
    return (fn) => pWaitFor(fn, { interval: 1 });
  },
  "p-wait-for, timeout": async () => {
    const { default: pWaitFor } = await import("p-wait-for");
    return (fn) => pWaitFor(fn, { interval: 1, timeout: 60_000 });
  },
};

const each = (loads, sample) =>
  Object.fromEntries(Object.entries(loads).map(([name, load]) => [name, sample(load)]));

export const attempts = {
  id: "f",
  title: "One attempt, the wait itself taking no time",
  cases: [
    {
      id: "retry",
      title: "that fails",
      sizes: [20_000],
      quickSizes: [500],
      samples: 15,
      milliseconds: 500,
      unit: "attempts",
      contenders: each(RETRIES, failing),
    },
    {
      id: "bytes",
      title: "that fails, in bytes",
      sizes: [1_000_000],
      quickSizes: [4_000],
      samples: 1,
      milliseconds: 0,
      unit: "attempts",
      skip: {
        "async-retry": {
          above: 100_000,
          because: "it shifts an array of all its delays, so n attempts cost n²",
        },
      },
      contenders: each(RETRIES, weighing),
    },
    {
      id: "poll",
      title: "that says no",
      sizes: [20_000],
      quickSizes: [500],
      samples: 15,
      milliseconds: 500,
      unit: "polls",
      contenders: each(POLLS, refusing),
    },
  ],
};
