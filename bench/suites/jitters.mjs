import { stopwatch } from "../measure.mjs";

const DELAYS = 15;
const SHAPE = { duration: 100, cap: 30_000 };

/** Every shape of delays, each with the options that make it grow from 100 ms to 30 s. */
const STRATEGIES = {
  Backoff: (w) => new w.Backoff({ ...SHAPE, factor: 2 }),
  "Backoff, jitter": (w) => new w.Backoff({ ...SHAPE, factor: 2, jitter: 0.5 }),
  "Backoff, capAfterJitter": (w) =>
    new w.Backoff({ ...SHAPE, factor: 2, jitter: 0.5, capAfterJitter: true }),
  "Backoff, full": (w) => new w.Backoff({ ...SHAPE, factor: 2, jitter: "full" }),
  "Backoff, equal": (w) => new w.Backoff({ ...SHAPE, factor: 2, jitter: "equal" }),
  DecorrelatedJitterBackoff: (w) => new w.DecorrelatedJitterBackoff(SHAPE),
  SymmetricJitterBackoff: (w) => new w.SymmetricJitterBackoff({ ...SHAPE, jitter: 0.5 }),
  GrpcBackoff: (w) => new w.GrpcBackoff(),
  "AttemptBackoff, spread": (w) => new w.AttemptBackoff({ spread: true }),
  BinaryExponentialBackoff: (w) => new w.BinaryExponentialBackoff({ slotTime: 0.0512 }),
};

/** A sample: so many sequences of delays, each with a function of its own, whose making is not counted. */
function walking(strategyFrom) {
  return async (walks) => {
    const { Backoff } = await import("@holdfast/wait");
    const strategy = strategyFrom({ Backoff, ...(await import("@holdfast/wait/strategies")) });
    return () => {
      const nexts = Array.from({ length: walks }, () => strategy.delayFunc());
      let sum = 0;
      const lap = stopwatch();
      for (const next of nexts) for (let i = 0; i < DELAYS; i++) sum += next();
      const spent = lap();
      if (!(sum > 0)) throw new Error(`no delays: ${sum}`);
      return { "ns/delay": spent / (walks * DELAYS) };
    };
  };
}

export const jitters = {
  id: "g",
  title: "The next delay of every strategy",
  cases: [
    {
      id: "walks",
      title: "from 100 ms to 30 s where it can be told",
      sizes: [4_096],
      quickSizes: [512],
      samples: 40,
      milliseconds: 300,
      unit: `walks of ${DELAYS} delays`,
      contenders: Object.fromEntries(
        Object.entries(STRATEGIES).map(([name, strategyFrom]) => [name, walking(strategyFrom)]),
      ),
    },
  ],
};
