import { liveBytes, stopwatch } from "../measure.mjs";

const HOUR = 3_600_000;
/** Rounds of 1,000 sleeps before the sample: with fewer, compilation is half of its cost. */
const WARM_UPS = 100;
const QUADRATIC = { above: 40_000, because: "one listener per sleep, so n sleeps cost n²" };

/** A sample: starts `count` sleeps of an hour on existing signals, then aborts them all. */
function sleeping(count, controllers, begin) {
  return async () => {
    const sleeps = new Array(count);
    const signals = controllers.map(({ signal }) => signal);
    const before = liveBytes();
    const lap = stopwatch();
    for (let i = 0; i < count; i++) sleeps[i] = begin(signals[i % signals.length]);
    const create = lap();
    const bytes = liveBytes() - before;
    const settled = Promise.allSettled(sleeps);
    lap();
    for (const controller of controllers) controller.abort();
    const outcomes = await settled;
    const abort = lap();
    if (outcomes.some(({ status }) => status !== "rejected")) throw new Error("a sleep went on");
    return { "create ns": create / count, "abort ns": abort / count, bytes: bytes / count };
  };
}

const BEGIN = {
  "realClock.sleep": async () => {
    const { realClock } = await import("@holdfast/clock");
    return (signal) => realClock.sleep(HOUR, { signal });
  },
  "FakeClock.sleep": async () => {
    const { FakeClock } = await import("@holdfast/clock/testing");
    const clock = new FakeClock();
    return (signal) => clock.sleep(HOUR, { signal });
  },
  "bare sleep, own listener": () => bareSleep,
  "node:timers/promises": async () => {
    const { setTimeout: sleep } = await import("node:timers/promises");
    return (signal) => sleep(HOUR, undefined, { signal });
  },
  delay: async () => {
    const { default: delay } = await import("delay");
    return (signal) => delay(HOUR, { signal });
  },
  "p-queue (queued, not slept)": async () => {
    const { default: PQueue } = await import("p-queue");
    const queue = new PQueue({ concurrency: 1 });
    void queue.add(() => new Promise(() => {}));
    return (signal) => queue.add(() => {}, { signal });
  },
};

function bareSleep(signal) {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, HOUR);
    signal.addEventListener("abort", onAbort);
  });
}

function contenders(signalsFor) {
  return Object.fromEntries(
    Object.entries(BEGIN).map(([name, load]) => [
      name,
      async (count) => {
        const begin = await load();
        for (let i = 0; i < WARM_UPS; i++) await sleeping(1_000, [new AbortController()], begin)();
        const controllers = Array.from({ length: signalsFor(count) }, () => new AbortController());
        return sleeping(count, controllers, begin);
      },
    ]),
  );
}

// A process measures once: the second time finds another heap and warmer code.
const once = { samples: 1, milliseconds: 0, unit: "sleeps" };
const skip = Object.fromEntries(
  ["bare sleep, own listener", "node:timers/promises", "delay"].map((name) => [name, QUADRATIC]),
);

export const sleeps = {
  id: "b",
  title: "Sleeps of one hour: begin, hold, abort",
  cases: [
    {
      id: "shared",
      title: "all on one signal",
      sizes: [10_000, 20_000, 40_000, 100_000],
      quickSizes: [2_000, 4_000],
      ...once,
      skip,
      contenders: contenders(() => 1),
    },
    {
      id: "own",
      title: "each on its own signal",
      sizes: [40_000],
      quickSizes: [4_000],
      ...once,
      contenders: contenders((count) => count),
    },
  ],
};
