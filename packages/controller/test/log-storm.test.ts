import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  ExponentialLimiter,
  LeaderElector,
  type Logger,
  MemoryLock,
  Shards,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const odd = (): never => {
  throw new Error("odd");
};
const down = (): Promise<never> => Promise.reject(new Error("down"));
const again = () => ({ requeueAfter: 1_000 });
const measure = { maxWorkers: odd, activeWorkers: odd, reconciled: odd, source: odd };

interface Common {
  readonly name: string;
  readonly clock: FakeClock;
  readonly logger: Logger;
}

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

function looping(controller: Controller): Controller {
  controller.add("a");
  return controller;
}

const eachSecond = () => new ExponentialLimiter({ duration: 1_000, cap: 1_000 });
const BROKEN = { description: "broken", get: down, create: down, update: down };

/** Each has one thing that fails all the time. */
const DOORS: Record<string, (common: Common) => Runnable> = {
  "a controller whose metrics throw": (common) =>
    looping(new Controller({ ...common, reconcile: again, metrics: measure as never })),
  "a controller whose limiter throws": (common) => {
    const limiter = { when: odd, forget: odd, requeues: odd };
    return looping(new Controller({ ...common, reconcile: again, limiter }));
  },
  "a controller whose source fails": (common) =>
    new Controller({ ...common, reconcile: again, sources: [{ name: "odd", start: down }] }),
  "a controller whose key fails": (common) =>
    looping(new Controller({ ...common, reconcile: down, limiter: eachSecond() })),
  "a controller whose key fails with two errors in turn": (common) => {
    const reconcile = ({ attempt }: { readonly attempt: number }): never => {
      throw new Error(attempt % 2 === 0 ? "refused" : "down");
    };
    return looping(new Controller({ ...common, reconcile, limiter: eachSecond() }));
  },
  "a controller whose key is given up, and comes again": (common) => {
    const onGiveUp = ({ key }: { readonly key: string }): void =>
      controller.add(key, { after: 1_000 });
    const controller: Controller = new Controller({
      ...common,
      reconcile: down,
      retries: 0,
      onGiveUp,
    });
    return looping(controller);
  },
  "an elector whose lock fails": ({ clock, logger }) =>
    new LeaderElector({ clock, logger, lock: BROKEN, identity: "a", lead: again }),
  "shards, one of whose locks fails": ({ clock, logger }) =>
    new Shards({
      ...{ clock, logger, identity: "a", count: 4, lead: again },
      lockOf: (name) => (name === "slot-2" ? BROKEN : new MemoryLock()),
    }),
};

describe("a failure that repeats is logged once a minute", () => {
  it.each(Object.entries(DOORS))("%s", async (_, make) => {
    const clock = new FakeClock();
    const lines: object[] = [];
    const write = (details: object): void => void lines.push(details);
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const stop = new AbortController();
    const run = make({ name: "part", clock, logger }).run(stop.signal);
    await clock.step(600_000);
    stop.abort();
    await clock.run(() => run);
    expect(lines.length).toBeGreaterThan(9);
    expect(lines.length).toBeLessThanOrEqual(3 * 11); // three hooks at most
  });
});

it("logs the first failure of each key, of each error, and after a success", async () => {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  const start = clock.monotonic();
  const logger: Logger = {
    ...silentLogger,
    warn: (details) => {
      const { key, err, count } = details as { key: string; err: Error; count?: number };
      lines.push([clock.monotonic() - start, key, err.message, ...(count ? [count] : [])]);
    },
  };
  const reconcile = ({ key }: { readonly key: string }) => {
    const second = Math.floor((clock.monotonic() - start) / 1_000);
    if (key === "a" && second === 20) return { requeueAfter: 1_000 };
    throw new Error(key === "a" && second >= 10 && second < 20 ? "refused" : "down");
  };
  const controller = new Controller({
    ...{ name: "part", clock, logger, reconcile, limiter: eachSecond() },
  });
  controller.add("a");
  controller.add("b");
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  await clock.step(70_000);
  expect(lines).toEqual([
    [0, "a", "down"],
    [0, "b", "down"],
    [10_000, "a", "refused"],
    [21_000, "a", "down"],
    [60_000, "b", "down", 60],
  ]);
  stop.abort();
  await clock.run(() => running);
});

it("remembers the failures of 10,000 keys, the latest ones", async () => {
  const clock = new FakeClock();
  const logged: string[] = [];
  const controller = new Controller<string>({
    ...{ name: "part", clock, retries: 0 },
    logger: {
      ...silentLogger,
      error: (details) => void logged.push((details as { readonly key: string }).key),
    },
    reconcile: () => {
      throw new Error("down");
    },
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const fail = async (...keys: string[]): Promise<string[]> => {
    for (const key of keys) controller.add(key);
    await clock.run(() => controller.idle());
    return logged.splice(0);
  };
  const others = Array.from({ length: 9_999 }, (_, index) => `${index}`);
  expect(await fail("first", ...others)).toHaveLength(10_000);
  expect(await fail("first", "0")).toEqual([]);
  expect(await fail("one more")).toEqual(["one more"]);
  expect(await fail("2", "first", "0", "1")).toEqual(["1"]);
  stop.abort();
  await clock.run(() => running);
});
