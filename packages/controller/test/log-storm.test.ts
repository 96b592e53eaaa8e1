import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  ExponentialLimiter,
  LeaderElector,
  type Logger,
  MemoryLock,
  resync,
  Shards,
  silentLogger,
} from "@holdfast/controller";
import { traced } from "@holdfast/controller/opentelemetry";
import { diag } from "@opentelemetry/api";
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
  "a controller whose source reports an error each second": (common) =>
    new Controller({
      ...common,
      reconcile: again,
      sources: [resync({ interval: 1_000, list: down })],
    }),
  "a controller whose key ignores its signal": (common) => {
    const reconcile = async (): Promise<{ requeueAfter: number }> => {
      await common.clock.sleep(3_000);
      return again();
    };
    return looping(new Controller({ ...common, reconcile, timeout: 1_000, abortGrace: 1_000 }));
  },
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
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.length).toBeLessThanOrEqual(3 * 11); // three hooks at most
  });
});

it("reports a tracer that throws once a minute", async () => {
  const clock = new FakeClock();
  const counts: unknown[] = [];
  const drop = (): void => {};
  const error = (...[, , details]: unknown[]): void =>
    void counts.push((details as { count?: number }).count);
  diag.setLogger({ error, warn: drop, debug: drop, info: drop, verbose: drop });
  const tracer = { startSpan: odd, startActiveSpan: odd };
  const reconcile = traced(again, { clock, tracer });
  const controller = looping(new Controller({ name: "part", clock, reconcile }));
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  await clock.step(120_000);
  expect(counts).toEqual([undefined, 60, 60]);
  stop.abort();
  await clock.run(() => running);
  diag.disable();
});

it("logs a line for each of a hundred keys that ignore their signals, and one for all others", async () => {
  const clock = new FakeClock();
  const lines: { key: string; others?: number }[] = [];
  const error = (details: object): void => void lines.push(details as { key: string });
  const controller = new Controller({
    ...{ name: "part", clock, workers: 500, timeout: 1_000, abortGrace: 1_000 },
    logger: { ...silentLogger, error },
    reconcile: () => clock.sleep(50_000),
  });
  for (let key = 0; key < 500; key++) controller.add(`key ${key}`);
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  await clock.step(40_000);
  expect(lines.map(({ others }) => others)).toEqual([...new Array<undefined>(100), 1]);
  stop.abort();
  await clock.run(() => running);
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

/** What a controller logs about keys that fail every ten seconds, in each minute. */
async function linesOf(
  keys: number,
  minutes: number,
  outcome: (attempt: number) => unknown,
): Promise<{ own: number; others: number }[]> {
  const clock = new FakeClock();
  let [own, others] = [0, 0];
  const count = (details: object): void => {
    if ("others" in details) others += details.others as number;
    else own++;
  };
  const controller = new Controller({
    ...{ name: "part", clock, workers: 100 },
    limiter: new ExponentialLimiter({ duration: 10_000, cap: 10_000 }),
    logger: { ...silentLogger, warn: count, error: count },
    reconcile: ({ attempt }) => outcome(attempt) as never,
  });
  for (let key = 0; key < keys; key++) controller.add(`key ${key}`);
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const lines: { own: number; others: number }[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    await clock.step(minute === 0 ? 59_999 : 60_000);
    lines.push({ own, others });
    [own, others] = [0, 0];
  }
  stop.abort();
  await clock.run(() => running);
  return lines;
}

const fail = (): never => {
  throw new Error("down");
};

it.each([9_900, 10_000])("logs a line a minute for each of %i keys", async (keys) => {
  const each = { own: keys, others: 0 };
  expect(await linesOf(keys, 2, fail)).toEqual([each, each]);
});

it("logs a line a minute for each of 10,000 keys, and one for all others", async () => {
  const [first, second] = (await linesOf(12_000, 2, fail)) as [object, object];
  // The line is logged when the first of the others fails.
  expect(first).toEqual({ own: 10_000, others: 1 });
  expect(second).toEqual({ own: 10_000, others: 6 * 2_000 });
});

it("logs no more of keys that succeed in between", async () => {
  const flap = (attempt: number) => (attempt > 1 ? { requeueAfter: 1 } : fail());
  const lines = await linesOf(4_000, 3, flap);
  for (const { own } of lines) expect(own).toBeLessThanOrEqual(10_000);
  expect(lines[1]?.others).toBeGreaterThan(10_000);
});

it("logs a key again that has not failed for a minute, in place of one that fails", async () => {
  const clock = new FakeClock();
  const logged: string[] = [];
  const log = (details: object): void => void logged.push((details as { key: string }).key);
  const controller = new Controller<string>({
    ...{ name: "part", clock, retries: 0, reconcile: fail },
    logger: { ...silentLogger, error: log },
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const failing = async (...keys: string[]): Promise<string[]> => {
    for (const key of keys) controller.add(key);
    await clock.run(() => controller.idle());
    return logged.splice(0);
  };
  const others = Array.from({ length: 9_999 }, (_, index) => `${index}`);
  expect(await failing("first", ...others)).toHaveLength(10_000);
  expect(await failing("first", "0")).toEqual([]);
  expect(await failing("one more", "another")).toEqual(["one more"]); // stands for both
  await clock.step(60_000);
  expect(await failing("another", "first")).toEqual(["another", "first"]);
  stop.abort();
  await clock.run(() => running);
});

describe("a failure whose text has another number each time is logged once a minute", () => {
  const text = (clock: FakeClock): Error =>
    new Error(`grants none for ${100_000 - clock.monotonic()} ms, request ${clock.monotonic()}-a`);
  const lockOf = (clock: FakeClock) => {
    const refuse = async (): Promise<never> => Promise.reject(text(clock));
    return { description: "young", get: refuse, create: refuse, update: refuse };
  };
  const DOORS_WITH_NUMBERS: Record<string, (common: Common) => Runnable> = {
    "of a lock, to an elector": ({ clock, logger }) =>
      new LeaderElector({ clock, logger, lock: lockOf(clock), identity: "a", lead: again }),
    "of a lock, to shards": ({ clock, logger }) =>
      new Shards({
        ...{ clock, logger, identity: "a", count: 4, lead: again },
        lockOf: (name) => (name === "slot-2" ? lockOf(clock) : new MemoryLock()),
      }),
    "of a key": (common) =>
      looping(
        new Controller({
          ...{ ...common, limiter: eachSecond() },
          reconcile: () => Promise.reject(text(common.clock)),
        }),
      ),
    "of a hook": (common) =>
      looping(
        new Controller({
          ...{ ...common, reconcile: down, limiter: eachSecond(), logger: common.logger },
          onError: () => Promise.reject(text(common.clock)),
        }),
      ),
  };

  it.each(Object.entries(DOORS_WITH_NUMBERS))("%s", async (_, make) => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const write = (details: { readonly err?: Error; readonly others?: number }): void => {
      if (details.err?.message.startsWith("grants")) lines.push(details.err.message);
    };
    const logger = { ...silentLogger, warn: write, error: write };
    const stop = new AbortController();
    const run = make({ name: "part", clock, logger }).run(stop.signal);
    await clock.step(59_999);
    expect(lines).toHaveLength(1);
    await clock.step(60_000);
    expect(lines).toHaveLength(2);
    stop.abort();
    await clock.run(() => run);
  });
});
