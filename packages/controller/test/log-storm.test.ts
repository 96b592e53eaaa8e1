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

/** The ten letters of a number: another word each time, without a digit. */
const word = (index: number): string =>
  [...String(index * 7_919)].map((digit) => "qwertyuiop"[Number(digit)]).join("");

const TEXTS: Record<string, (index: number) => string> = {
  "the same text": () => "down",
  "another number": (index) => `grants none for ${100_000 - index} ms, request ${index}-a`,
  "another word": word,
};

const fail = (): never => {
  throw new Error("down");
};
const again = () => ({ requeueAfter: 1_000 });

interface Common {
  readonly name: string;
  readonly clock: FakeClock;
  readonly logger: Logger;
  readonly random: () => number;
}

/** Ways to fail, with a text of its own each time. */
interface Failing {
  readonly odd: () => never;
  readonly down: () => Promise<never>;
}

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

function looping(controller: Controller): Controller {
  controller.add("a");
  return controller;
}

const eachSecond = () => new ExponentialLimiter({ duration: 1_000, cap: 1_000 });
const brokenLock = ({ down }: Failing) => ({
  ...{ description: "broken", get: down, create: down, update: down },
});

/** Each has one thing that fails all the time. */
const DOORS: Record<string, (common: Common, failing: Failing) => Runnable> = {
  "a controller whose metrics throw": (common, { odd }) => {
    const metrics = { maxWorkers: odd, activeWorkers: odd, reconciled: odd, source: odd };
    return looping(new Controller({ ...common, reconcile: again, metrics: metrics as never }));
  },
  "a controller whose limiter throws": (common, { odd }) => {
    const limiter = { when: odd, forget: odd, requeues: odd };
    return looping(new Controller({ ...common, reconcile: again, limiter }));
  },
  "a controller whose onError rejects": (common, { down }) =>
    looping(new Controller({ ...common, reconcile: fail, onError: down, limiter: eachSecond() })),
  "a controller whose source fails": (common, { down }) =>
    new Controller({ ...common, reconcile: again, sources: [{ name: "odd", start: down }] }),
  "a controller whose source reports an error each second": (common, { down }) =>
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
  "a controller whose key fails": (common, { down }) =>
    looping(new Controller({ ...common, reconcile: down, limiter: eachSecond() })),
  "a controller whose key fails every other time": (common, { down }) => {
    let isGood = false;
    const reconcile = () => {
      isGood = !isGood;
      return isGood ? again() : down();
    };
    return looping(new Controller({ ...common, reconcile, limiter: eachSecond() }));
  },
  "a controller whose key fails with two errors in turn": (common, { down }) => {
    const reconcile = ({ attempt }: { readonly attempt: number }) =>
      attempt % 2 === 0 ? fail() : down();
    return looping(new Controller({ ...common, reconcile, limiter: eachSecond() }));
  },
  "a controller whose key is given up, and comes again": (common, { down }) => {
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
  "an elector whose lock fails": ({ clock, logger }, failing) => {
    const lock = brokenLock(failing);
    return new LeaderElector({ clock, logger, lock, identity: "a", lead: again });
  },
  "shards, one of whose locks fails": ({ clock, logger }, failing) =>
    new Shards({
      ...{ clock, logger, identity: "a", count: 4, lead: again },
      lockOf: (name) => (name === "slot-2" ? brokenLock(failing) : new MemoryLock()),
    }),
};

describe.each(Object.entries(TEXTS))("a failure with %s is logged once a minute", (_, textOf) => {
  it.each(Object.entries(DOORS))("%s", async (_, make) => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    /** Instants of the lines about each subject. */
    const lines = new Map<string, number[]>();
    let [failed, told] = [0, 0];
    const stale: string[] = [];
    const odd = (): never => {
      throw new Error(textOf(++failed));
    };
    const write = (details: object, message: string): void => {
      const { key, hook, source, count, err } = details as {
        readonly [name: string]: unknown;
        readonly count?: number;
        readonly err?: Error;
      };
      const subject = [message.split(":")[0], key, hook, source].join(" ");
      lines.set(subject, [...(lines.get(subject) ?? []), clock.monotonic() - start]);
      told += count ?? 1;
      const isOther = err === undefined || err.name !== "Error" || err.message === "down";
      if (!isOther && err.message !== textOf(failed)) stale.push(err.message);
    };
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const stop = new AbortController();
    const down = async () => odd();
    // Without jitter, or a minute could be left out between two delays.
    const common = { name: "part", clock, logger, random: () => 0 };
    const run = make(common, { odd, down }).run(stop.signal);
    await clock.step(600_000);
    stop.abort();
    await clock.run(() => run);
    for (const instants of lines.values()) {
      const minutes = instants.map((at) => Math.floor(at / 60_000));
      const perMinute = Array.from(
        { length: 10 },
        (_, minute) => minutes.filter((at) => at === minute).length,
      );
      const first = expect.toBeOneOf([1, 2]); // another text is news, once
      expect(perMinute).toEqual([first, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    }
    expect(lines.size).toBeGreaterThan(0);
    expect(told).toBeGreaterThanOrEqual(0.9 * failed); // all but those of the last minute
    expect(stale).toEqual([]);
  });
});

it("reports a tracer that throws once a minute", async () => {
  const clock = new FakeClock();
  const counts: unknown[] = [];
  const drop = (): void => {};
  const error = (...[, , details]: unknown[]): void =>
    void counts.push((details as { count?: number }).count);
  diag.setLogger({ error, warn: drop, debug: drop, info: drop, verbose: drop });
  const tracer = { startSpan: fail, startActiveSpan: fail };
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

it("logs the first failure of each key, and another error at once", async () => {
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
    [60_000, "a", "down", 58], // with those in between that had no line
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

it("logs a line a minute for each of 4,000 keys that succeed in between", async () => {
  const flap = (attempt: number) => (attempt > 1 ? { requeueAfter: 1 } : fail());
  const each = { own: 4_000, others: 0 };
  expect(await linesOf(4_000, 3, flap)).toEqual([each, each, each]);
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
