import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  fromCallback,
  fromIterable,
  fromObservable,
  MemoryLock,
  mapSource,
  resync,
  Shards,
  type Source,
  silentLogger,
  slotOf,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";

let clock: FakeClock;
let locks: Map<string, MemoryLock>;
let stop: AbortController;
/** How often each replica has listed the keys. */
let lists: Map<string, number>;
let reconciled: { readonly who: string; readonly key: string; readonly at: number }[];
/** Tells a change to all sources that listen. */
let listeners: Set<(key: string) => void>;

beforeEach(() => {
  clock = new FakeClock();
  locks = new Map();
  stop = new AbortController();
  lists = new Map();
  reconciled = [];
  listeners = new Set();
});

function lockOf(name: string): MemoryLock {
  const lock = locks.get(name) ?? new MemoryLock();
  locks.set(name, lock);
  return lock;
}

type MakeSource = (keys: readonly string[], list: () => void) => Source;

/** Events that come, until the signal aborts. */
function changes(enqueue: (key: string) => void, signal: AbortSignal): Promise<void> {
  listeners.add(enqueue);
  return clock
    .sleep(Number.POSITIVE_INFINITY, { signal })
    .catch(() => {})
    .finally(() => listeners.delete(enqueue));
}

const SOURCES: Record<string, MakeSource> = {
  "resync of a list": (keys, list) =>
    resync({
      interval: 3_600_000,
      list: () => {
        list();
        return keys;
      },
    }),
  "resync of a promise": (keys, list) =>
    resync({
      interval: 3_600_000,
      list: async () => {
        list();
        await clock.sleep(300);
        return keys;
      },
    }),
  "resync of pages": (keys, list) =>
    resync({
      interval: 3_600_000,
      async *list() {
        list();
        for (let page = 0; page < keys.length; page += 100) {
          await clock.sleep(20);
          yield* keys.slice(page, page + 100);
        }
      },
    }),
  "a mapped resync": (keys, list) =>
    mapSource(SOURCES["resync of a promise"]?.(keys, list) as Source, (key) => [key]),
  "a source that lists and watches": (keys, list) => ({
    name: "watch",
    async start({ enqueue }, signal) {
      list();
      const changed = changes(enqueue, signal);
      await clock.sleep(200);
      for (const key of keys) enqueue(key);
      await changed;
    },
  }),
  "a source that lists and ends": (keys, list) => ({
    name: "once",
    async start({ enqueue }) {
      list();
      await clock.sleep(200);
      for (const key of keys) enqueue(key);
    },
  }),
  "a source that tells all at once": (keys, list) => ({
    name: "cache",
    start({ enqueue }, signal) {
      list();
      void changes(enqueue, signal);
      for (const key of keys) enqueue(key);
    },
  }),
  "an iterable": (keys, list) =>
    fromIterable("iterable", async function* (signal) {
      list();
      await clock.sleep(200);
      yield* keys;
      await clock.sleep(Number.POSITIVE_INFINITY, { signal });
    }),
  "a callback": (keys, list) =>
    fromCallback<string>("callback", async (enqueue) => {
      list();
      listeners.add(enqueue);
      await clock.sleep(200);
      for (const key of keys) enqueue(key);
      return () => listeners.delete(enqueue);
    }),
  "an observable": (keys, list) =>
    fromObservable<string>("observable", {
      subscribe({ next }) {
        list();
        listeners.add(next);
        const timer = clock.afterFunc(200, () => {
          for (const key of keys) next(key);
        });
        return {
          unsubscribe() {
            timer.stop();
            listeners.delete(next);
          },
        };
      },
    }),
};

function replica(who: string, count: number, keys: readonly string[], make: MakeSource) {
  const common = { clock, logger: silentLogger, random: () => 0 };
  const shards = new Shards({ ...common, count, identity: who, lockOf });
  const list = (): void => void lists.set(who, (lists.get(who) ?? 0) + 1);
  const controller = new Controller({
    ...{ ...common, name: "keys", workers: 50 },
    sources: [make(keys, list)],
    reconcile: ({ key }) => void reconciled.push({ who, key, at: clock.monotonic() }),
  });
  const run = Promise.all([shards.run(stop.signal), controller.run(stop.signal, { shards })]);
  return { shards, run };
}

const namesOf = (keys: number) => Array.from({ length: keys }, (_, index) => `key-${index}`);
const countOf = (name: string): number => reconciled.filter(({ who }) => who === name).length;

async function end(runs: readonly Promise<unknown>[]): Promise<void> {
  stop.abort();
  await clock.run(() => Promise.all(runs));
  expect(clock.waiters()).toBe(0);
}

describe("slots that come cost the reconciles of their keys", () => {
  it.each(Object.entries(SOURCES))("of %s", async (_, make) => {
    const [count, keys] = [16, namesOf(320)];
    const a = replica("a", count, keys, make);
    await clock.step(30_000);
    expect([countOf("a"), a.shards.status().held.length]).toEqual([320, 16]);
    // All of them came in one look: one list when it began, one for them.
    expect(lists.get("a")).toBeLessThanOrEqual(2);
    const b = replica("b", count, keys, make);
    await clock.step(120_000);
    const { held } = b.shards.status();
    const share = keys.filter((key) => held.includes(slotOf(key, count)));
    expect(held).toHaveLength(8);
    expect(new Set(reconciled.filter(({ who }) => who === "b").map(({ key }) => key))).toEqual(
      new Set(share),
    );
    expect([countOf("a"), countOf("b")]).toEqual([320, share.length]);
    // They were given up one by one.
    expect(lists.get("b")).toBeLessThanOrEqual(8 + 1);
    await end([a.run, b.run]);
  });
});

it("a replica that joins 64 slots costs its share of the keys", async () => {
  const keys = namesOf(3_200);
  const make = SOURCES["resync of a promise"] as MakeSource;
  const a = replica("a", 64, keys, make);
  await clock.step(30_000);
  const b = replica("b", 64, keys, make);
  await clock.step(400_000);
  const { held } = b.shards.status();
  const share = keys.filter((key) => held.includes(slotOf(key, 64)));
  expect(held).toHaveLength(32);
  expect([countOf("a"), countOf("b")]).toEqual([3_200, share.length]);
  // One slot came in 4 s, 32 of them.
  expect(lists.get("b")).toBe(10);
  await end([a.run, b.run]);
});

it("slots of a crashed replica that come together cost one list", async () => {
  const keys = namesOf(320);
  const make = SOURCES["resync of a promise"] as MakeSource;
  const gone = new Shards({
    ...{ clock, count: 16, identity: "gone", lockOf, logger: silentLogger, random: () => 0 },
    lead: () => new Promise(() => {}),
  });
  const leave = new AbortController();
  void gone.run(leave.signal);
  await clock.step(1_000);
  const a = replica("a", 16, keys, make);
  await clock.step(60_000);
  const before = lists.get("a") ?? 0;
  // It does not renew any more: its locks answer it no longer.
  for (const lock of locks.values()) {
    const { create, update } = lock;
    const never = (): Promise<never> => new Promise(() => {});
    lock.create = (record, signal) =>
      record.holder === "gone" ? never() : create.call(lock, record, signal);
    lock.update = (record, version, signal) =>
      record.holder === "gone" ? never() : update.call(lock, record, version, signal);
  }
  await clock.step(60_000);
  expect(a.shards.status().held).toHaveLength(16);
  expect((lists.get("a") ?? 0) - before).toBeLessThanOrEqual(2);
  stop.abort();
  await clock.step(60_000);
  await a.run;
});

it.each(["a source that lists and watches", "a source that tells all at once", "a callback"])(
  "loses no event while slots come: %s",
  async (name) => {
    const [count, keys] = [16, namesOf(160)];
    const make = SOURCES[name] as MakeSource;
    const a = replica("a", count, keys, make);
    await clock.step(30_000);
    const b = replica("b", count, keys, make);
    const told: { readonly key: string; readonly at: number }[] = [];
    for (let step = 0; step < 900; step++) {
      const key = `key-${(step * 37) % 160}`;
      told.push({ key, at: clock.monotonic() });
      for (const listener of listeners) listener(key);
      await clock.step(97);
    }
    await clock.step(10_000);
    const lost = told.filter(
      ({ key, at }) => !reconciled.some((one) => one.key === key && one.at >= at),
    );
    expect(lost).toEqual([]);
    await end([a.run, b.run]);
  },
);

it("passes an event by the function of the latest start, for the keys of all slots", async () => {
  const keys = namesOf(160);
  let tell: (key: string) => void = () => {};
  const make: MakeSource = () =>
    fromCallback<string>("button", (enqueue) => {
      tell = enqueue;
    });
  const a = replica("a", 16, keys, make);
  await clock.step(10_000);
  for (const key of keys) tell(key);
  const b = replica("b", 16, keys, make);
  await clock.step(60_000);
  expect(countOf("a")).toBe(160);
  // The function is that of b now, which has come last.
  const ofB = keys.filter((key) => b.shards.status().held.includes(slotOf(key, 16)));
  for (const key of keys) tell(key);
  await clock.step(1_000);
  expect(countOf("b")).toBe(ofB.length);
  await end([a.run, b.run]);
});
