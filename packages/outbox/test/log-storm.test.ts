import { FakeClock } from "@holdfast/clock/testing";
import { type Logger, MemoryLock, silentLogger } from "@holdfast/controller";
import { type OutboxEvent, Recovery, Relay, Retention } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";

/** The ten letters of a number: another word each time, without a digit. */
const word = (index: number): string =>
  [...String(index * 7_919)].map((digit) => "qwertyuiop"[Number(digit)]).join("");

const TEXTS: Record<string, (index: number) => string> = {
  "the same text": () => "down",
  "another number": (index) => `grants none for ${100_000 - index} ms, request ${index}-a`,
  "another word": word,
};

type Down = () => Promise<never>;

const lockOf = (down: Down) => ({ description: "row a", get: down, create: down, update: down });
const storeOf = (down: Down) => ({
  ...{ order: "none" as const, claim: down, nextDue: down, write: down, now: down, listen: down },
  ...{ expired: down, recover: down, removeDelivered: down, removeOnce: down },
});

interface Common {
  readonly name: string;
  readonly clock: FakeClock;
  readonly logger: Logger;
  readonly random: () => number;
}

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

async function filled(clock: FakeClock): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.transaction(async (tx) => {
    for (let order = 0; order < 30; order++) {
      const schedule = { maxAttempts: 1_000, backoff: { factor: 1, duration: 10_000 } };
      const message = { topic: "orders", key: `${order}`, payload: order, ...schedule };
      await store.save(tx, message, clock.now());
    }
  });
  return store;
}

/** Each has one thing that fails all the time. */
const DOORS: Record<string, (common: Common, down: Down) => Promise<Runnable>> = {
  "a relay whose store is down": async (common, down) =>
    new Relay({ ...common, store: storeOf(down), publisher: { publish: async () => {} } }),
  "a relay whose receiver is down": async (common, down) =>
    new Relay({ ...common, store: await filled(common.clock), publisher: { publish: down } }),
  "a relay whose hook throws": async (common, down) => {
    const publisher = { publish: () => common.clock.sleep(9_000) };
    const store = await filled(common.clock);
    const onEvent = (): void => down() as never;
    return new Relay({ ...common, workers: 1, store, publisher, onEvent });
  },
  "a recovery whose store is down": async (common, down) =>
    new Recovery({ ...common, store: storeOf(down), lock: new MemoryLock() }),
  "a recovery whose lock is down": async (common, down) =>
    new Recovery({ ...common, store: storeOf(down), lock: lockOf(down) }),
  "a retention whose lock is down": async (common, down) =>
    new Retention({ ...common, store: storeOf(down), lock: lockOf(down), olderThan: 1 }),
};

describe.each(Object.entries(TEXTS))("a failure with %s is logged once a minute", (_, textOf) => {
  it.each(Object.entries(DOORS))("%s", async (_, make) => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    /** Instants of the lines of each text. */
    const lines = new Map<string, number[]>();
    let [failed, told] = [0, 0];
    const write = (details: object, message: string): void => {
      const at = Math.floor((clock.monotonic() - start) / 60_000);
      lines.set(message, [...(lines.get(message) ?? []), at]);
      told += (details as { readonly count?: number }).count ?? 1;
    };
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const runnable = await make({ name: "task", clock, logger, random: () => 0 }, () => {
      throw new Error(textOf(++failed));
    });
    const stop = new AbortController();
    const run = runnable.run(stop.signal);
    await clock.step(600_000);
    stop.abort();
    await clock.run(() => run);
    const [minutes = []] = lines.values();
    expect(lines.size).toBe(1);
    expect(minutes.slice(0, 2)).toEqual([0, expect.toBeOneOf([0, 1])]); // another text is news, once
    expect(new Set(minutes).size).toBeGreaterThanOrEqual(minutes.length - 1);
    expect(failed - told).toBeLessThanOrEqual(Math.ceil(failed / 10)); // all but those of the last minute
  });
});

it("a lock whose error names the time that is left is logged once a minute, as a lock", async () => {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  const write = (details: { readonly err: Error }, message: string): void =>
    void lines.push([details.err.message.split(" for ")[0], message]);
  const young = async (): Promise<never> => {
    throw new Error(`key a may have lost a lease; it grants none for ${90_000 - clock.now()} ms`);
  };
  const events: OutboxEvent[] = [];
  const recovery = new Recovery({
    ...{ clock, name: "recovery", store: new MemoryStore() },
    logger: { ...silentLogger, warn: write, error: write } as Logger,
    lock: lockOf(young),
    onEvent: (event) => events.push(event),
  });
  const stop = new AbortController();
  const run = recovery.run(stop.signal);
  const line = [
    "key a may have lost a lease; it grants none",
    "request to the lock failed; repeating it",
  ];
  await clock.step(59_999);
  expect(lines).toEqual([line]);
  await clock.step(60_000);
  expect(lines).toEqual([line, line]);
  expect(events[0]).toMatchObject({ type: "error", of: "lock" });
  stop.abort();
  await clock.run(() => run);
});

it("logs a line for each of a hundred dead letters, and one a minute for all others", async () => {
  const clock = new FakeClock();
  const store = new MemoryStore();
  await store.transaction(async (tx) => {
    for (let key = 0; key < 500; key++) {
      const message = { topic: "orders", key: `${key}`, payload: key, maxAttempts: 1 };
      await store.save(tx, message, clock.now());
    }
  });
  const lines: { id?: string; others?: number }[] = [];
  const error = (details: object): void => void lines.push(details);
  const relay = new Relay({
    ...{
      clock,
      store,
      name: "relay",
      publisher: { publish: () => Promise.reject(new Error("down")) },
    },
    logger: { ...silentLogger, error } as Logger,
  });
  const stop = new AbortController();
  const run = relay.run(stop.signal);
  await clock.step(50_000);
  expect(await store.counts()).toMatchObject({ dead: 500 });
  expect(lines.map(({ others }) => others)).toEqual([...new Array<undefined>(100), 1]);
  stop.abort();
  await clock.run(() => run);
});
