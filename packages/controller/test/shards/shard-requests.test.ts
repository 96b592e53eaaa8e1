import { FakeClock } from "@holdfast/clock/testing";
import {
  type LeaseRecord,
  MemoryLock,
  type ResourceLock,
  Shards,
  type ShardsOptions,
  silentLogger,
  type Versioned,
} from "@holdfast/controller";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { beforeEach, describe, expect, it } from "vitest";

let clock: FakeClock;
let requests: string[];
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  stop = new AbortController();
});

/** A store whose requests are counted. */
class Store {
  readonly #locks = new Map<string, MemoryLock>();
  readonly #lists: boolean;

  constructor(lists: boolean) {
    this.#lists = lists;
  }

  readonly lockOf = (name: string): ResourceLock => {
    const lock = this.#locks.get(name) ?? (this.#lists ? new ListingLock() : new CountedLock());
    this.#locks.set(name, lock);
    return lock;
  };
}

class CountedLock extends MemoryLock {
  override async get(signal: AbortSignal): Promise<Versioned | undefined> {
    requests.push("get");
    return await super.get(signal);
  }

  override async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    requests.push("create");
    return await super.create(record, signal);
  }

  override async update(
    record: LeaseRecord,
    version: string,
    signal: AbortSignal,
  ): Promise<Versioned> {
    requests.push("update");
    return await super.update(record, version, signal);
  }
}

class ListingLock extends CountedLock {
  async list(
    locks: readonly ResourceLock[],
    signal: AbortSignal,
  ): Promise<readonly (Versioned | undefined)[]> {
    requests.push("list");
    return await Promise.all(
      locks.map((lock) => MemoryLock.prototype.get.call(lock as MemoryLock, signal)),
    );
  }
}

function replica(identity: string, options: Partial<ShardsOptions>): Shards {
  return new Shards({
    identity,
    lockOf: () => new MemoryLock(),
    lead: ({ signal }) => clock.sleep(Number.POSITIVE_INFINITY, { signal }),
    clock,
    random: () => 0,
    logger: silentLogger,
    ...options,
  });
}

/** How often each request is sent in 60 s, in which each replica looks 30 times. */
async function requestsIn60Seconds(): Promise<Record<string, number>> {
  requests = [];
  await clock.step(60_000);
  const kinds = [...new Set(requests)].sort();
  return Object.fromEntries(
    kinds.map((kind) => [kind, requests.filter((one) => one === kind).length]),
  );
}

describe("requests of two replicas at rest, in 60 s", () => {
  // 30 looks of each; each slot is renewed 30 times, and each replica reads and renews the count ten times.
  it.each([
    { count: 16, lists: true, expected: { get: 20, list: 60, update: 30 * 16 + 20 } },
    { count: 32, lists: true, expected: { get: 20, list: 60, update: 30 * 32 + 20 } },
    {
      count: 16,
      lists: false,
      expected: { get: 20 + 30 * (2 * 16 + 16), update: 30 * 16 + 20 },
    },
    {
      count: 32,
      lists: false,
      expected: { get: 20 + 30 * (2 * 32 + 32), update: 30 * 32 + 20 },
    },
  ])("$count slots, locks that list: $lists", async ({ count, lists, expected }) => {
    const { lockOf } = new Store(lists);
    const replicas = ["a", "b"].map((identity) => replica(identity, { count, lockOf }));
    const runs = replicas.map((each) => each.run(stop.signal));
    await clock.step(120_000);
    const half = count / 2;
    expect(replicas.map((each) => each.status().held.length)).toEqual([half, half]);
    expect(await requestsIn60Seconds()).toEqual(expected);
    stop.abort();
    await Promise.all(runs);
    expect(clock.waiters()).toBe(0);
  });
});

describe("Shards on a lock that is none", () => {
  const methods = { get: async () => undefined, create: async () => {}, update: async () => {} };
  it.each([
    [undefined, "must have a method get(), got undefined"],
    [{ ...methods, update: undefined }, "must have a method update(), got [object Object]"],
    [{ ...methods, list: true }, ".list must be a function, got true"],
  ])("refuse %o when they are made", (lock, message) => {
    const lockOf = (() => lock) as unknown as ShardsOptions["lockOf"];
    expect(() => replica("a", { lockOf })).toThrow(
      new TypeError(
        `the lock of options.lockOf("count")${message.startsWith(".") ? "" : " "}${message}`,
      ),
    );
  });

  it.each([
    [undefined, "lock.list() must resolve to an array of 4, one for each lock, got undefined"],
    [[undefined], "lock.list() must resolve to an array of 4, one for each lock, got one of 1"],
    [[1, 1, 1, 1], "lock.list() must resolve to a record and its version, got 1"],
  ])("report a list that resolves to %o, and take nothing", async (listed, message) => {
    const errors: unknown[] = [];
    const { lockOf: memoryLockOf } = new Store(true);
    const list = async () => listed;
    const lockOf = (name: string) => Object.assign(memoryLockOf(name), { list }) as ResourceLock;
    const shards = replica("a", { count: 2, lockOf, onError: (error) => errors.push(error) });
    const running = shards.run(stop.signal);
    await clock.step(10_000);
    expect(new Set(errors.map(String))).toEqual(new Set([`TypeError: ${message}`]));
    expect(shards.status().held).toEqual([]);
    stop.abort();
    await running;
  });

  it("report locks that no request can list together", async () => {
    const errors: unknown[] = [];
    const query = async (sql: string) => ({
      rows: sql.startsWith("SELECT version") ? [] : [{ now: 0, version: "1" }],
    });
    const lockOf = (name: string) => new PostgresLock({ query }, { name });
    const shards = replica("a", { count: 1, lockOf, onError: (error) => errors.push(error) });
    const running = shards.run(stop.signal);
    await clock.step(10_000);
    expect(errors.map(String)).toContain(
      "TypeError: locks must be rows of holdfast_lock of one client, got row wish-0 of holdfast_lock",
    );
    stop.abort();
    await running;
  });
});
