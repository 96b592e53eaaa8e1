import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
import { FileLock } from "@holdfast/controller/file-lock";
import { beforeEach, describe, expect, it } from "vitest";

const COUNT = 16;

let clock: FakeClock;
let stop: AbortController;
let warnings: { readonly at: number; readonly text: string }[];
let locks: Map<string, MemoryLock>;

beforeEach(() => {
  clock = new FakeClock();
  stop = new AbortController();
  warnings = [];
  locks = new Map();
});

const forbidden = (): Promise<never> => Promise.reject(new Error("403: forbidden"));
const never = (): Promise<never> => new Promise(() => {});
const LIST_FAULTS = { rejects: forbidden, hangs: never };

function sharedLock(name: string): MemoryLock {
  const lock = locks.get(name) ?? new MemoryLock();
  locks.set(name, lock);
  return lock;
}

/** A view of a shared lock, so that a fault of one replica is not one of the others. */
function viewOf(name: string): ResourceLock {
  const lock = sharedLock(name);
  return {
    description: name,
    get: (signal) => lock.get(signal),
    create: (record, signal) => lock.create(record, signal),
    update: (record, version, signal) => lock.update(record, version, signal),
  };
}

type Fault = (lock: ResourceLock) => Partial<ResourceLock>;

/** All that can be wrong with a single lock. */
const FAULTS: Record<string, Fault> = {
  "rejects all": () => ({ get: forbidden, create: forbidden, update: forbidden }),
  "rejects reads": () => ({ get: forbidden }),
  "rejects writes": () => ({ create: forbidden, update: forbidden }),
  "rejects later writes": () => ({ update: forbidden }),
  hangs: () => ({ get: never, create: never, update: never }),
  "hangs in writes": () => ({ create: never, update: never }),
  "has an emptied record": () => ({ get: async () => ({}) as Versioned }),
  throws: () => ({
    get() {
      throw new Error("no such method");
    },
  }),
  "rejects its release": (lock) => ({
    update: (record, version, signal) =>
      record.holder === "" ? forbidden() : lock.update(record, version, signal),
  }),
};

/** A fault that comes and goes. */
function toggled(fault: string, isOn: () => boolean): Fault {
  return (lock) => {
    const bad = { ...lock, ...FAULTS[fault]?.(lock) };
    const now = (): ResourceLock => (isOn() ? bad : lock);
    return {
      get: (signal) => now().get(signal),
      create: (record, signal) => now().create(record, signal),
      update: (record, version, signal) => now().update(record, version, signal),
    };
  };
}

/** Locks that are read in one request, as rows of a table are. One that is bad fails the whole request. */
class ListingLock implements ResourceLock {
  readonly description = "row";
  readonly list: (
    all: readonly ResourceLock[],
    signal: AbortSignal,
  ) => Promise<readonly (Versioned | undefined)[]>;
  readonly lock: ResourceLock;

  constructor(lock: ResourceLock) {
    this.lock = lock;
    this.list = listOf;
  }

  get(signal: AbortSignal): Promise<Versioned | undefined> {
    return this.lock.get(signal);
  }

  create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    return this.lock.create(record, signal);
  }

  update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    return this.lock.update(record, version, signal);
  }
}

const listOf: ListingLock["list"] = async (all, signal) =>
  await Promise.all(all.map((one) => (one as ListingLock).lock.get(signal)));

interface ReplicaOptions extends Partial<ShardsOptions> {
  /** Faults by the names of locks. */
  readonly faults?: Readonly<Record<string, Fault>>;
  readonly lists?: boolean;
}

function replica(identity: string, options: ReplicaOptions = {}): Shards {
  const { faults = {}, lists = false, ...rest } = options;
  const start = clock.monotonic();
  const write = (details: object, message: string): void => {
    const text = `${message} ${JSON.stringify(details)}`;
    warnings.push({ at: clock.monotonic() - start, text });
  };
  return new Shards({
    count: COUNT,
    identity,
    lockOf: (name) => {
      const lock = viewOf(name);
      const broken = Object.assign(viewOf(name), faults[name]?.(lock));
      return lists ? new ListingLock(broken) : broken;
    },
    lead: ({ signal }) => clock.sleep(Number.POSITIVE_INFINITY, { signal }),
    clock,
    random: () => 0,
    logger: { ...silentLogger, warn: write },
    ...rest,
  });
}

const heldBy = (shards: Shards) => shards.status().held;
const all = Array.from({ length: COUNT }, (_, slot) => slot);
const others = all.filter((slot) => slot !== 3);

describe.each([{ lists: false }, { lists: true }])("locks that list: $lists", ({ lists }) => {
  const doors = Object.entries(FAULTS).flatMap(([fault, of]) =>
    ["slot-3", "wish-3"].map((name) => ({ name, fault, of })),
  );

  it.each(doors)("one lock, $name, that $fault leaves the other slots", async ({ name, of }) => {
    const faults = { [name]: of };
    const [a, b] = ["a", "b"].map((id) => replica(id, { lists, faults })) as [Shards, Shards];
    const crash = new AbortController();
    const runs = [a.run(stop.signal), b.run(crash.signal)];
    await clock.step(90_000);
    const held = [...heldBy(a), ...heldBy(b)].sort((x, y) => x - y);
    expect(held).toEqual(expect.arrayContaining(others));
    expect(new Set(held).size).toBe(held.length);
    expect(Math.abs(heldBy(a).length - heldBy(b).length)).toBeLessThanOrEqual(1);
    // A replica leaves, and the rest takes over; then another one comes.
    crash.abort();
    await clock.step(60_000);
    expect(heldBy(a)).toEqual(expect.arrayContaining(others));
    const c = replica("c", { lists, faults });
    runs.push(c.run(stop.signal));
    await clock.step(180_000);
    expect(Math.abs(heldBy(a).length - heldBy(c).length)).toBeLessThanOrEqual(1);
    expect([...heldBy(a), ...heldBy(c)]).toEqual(expect.arrayContaining(others));
    stop.abort();
    await clock.run(() => Promise.all(runs));
    expect(clock.waiters()).toBe(0);
  });

  const lasting = Object.entries(FAULTS).filter(([fault]) => fault !== "rejects its release");
  it.each(lasting)("the status and a line a minute name a lock that %s", async (fault, of) => {
    // Of a slot nobody holds, only the first write is one.
    const name = fault === "rejects later writes" ? "count" : "slot-3";
    const a = replica("a", { lists, faults: { [name]: of } });
    const run = a.run(stop.signal);
    await clock.step(50_000);
    const { failing, free, lastError } = a.status();
    expect(failing.map(({ lock }) => lock)).toEqual([name]);
    expect(lastError).toBe(failing[0]?.error);
    if (name === "slot-3") expect(free).toEqual([3]);
    await clock.step(500_000);
    const naming = warnings.filter(({ text }) => text.includes(name));
    expect(naming.length).toBeGreaterThanOrEqual(9);
    expect(warnings.length).toBeLessThanOrEqual(3 * 10); // the list, its read and its write may each have a reason
    stop.abort();
    await clock.run(() => run);
  });

  it("takes a slot whose lock works again", async () => {
    let isBroken = true;
    const of: Fault = (lock) => ({
      get: (signal) => (isBroken ? forbidden() : lock.get(signal)),
    });
    const a = replica("a", { lists, faults: { "slot-3": of } });
    const run = a.run(stop.signal);
    await clock.step(10_000);
    expect(heldBy(a)).toEqual(others);
    isBroken = false;
    await clock.step(2_000);
    expect([heldBy(a), a.status().failing]).toEqual([all, []]);
    stop.abort();
    await run;
  });
});

it.each(Object.entries(LIST_FAULTS))("a list that %s leaves single reads", async (_, list) => {
  const lockOf = (name: string) => Object.assign(new ListingLock(viewOf(name)), { list });
  const a = replica("a", { lockOf });
  const run = a.run(stop.signal);
  await clock.step(12_000);
  expect([heldBy(a), a.status().failing]).toEqual([all, []]);
  expect(warnings).toHaveLength(1);
  stop.abort();
  await run;
});

it("a list with one bad record leaves the others", async () => {
  const list: ListingLock["list"] = async (asked, signal) => {
    const found = await listOf(asked, signal);
    return found.map((one, at) => (asked[at]?.description === "slot-3" ? ({} as Versioned) : one));
  };
  const lockOf = (name: string) => Object.assign(viewOf(name), { list, lock: viewOf(name) });
  const a = replica("a", { lockOf });
  const run = a.run(stop.signal);
  await clock.step(0);
  expect(heldBy(a)).toEqual(others);
  expect(a.status().failing.map(({ lock }) => lock)).toEqual(["slot-3"]);
  stop.abort();
  await run;
});

it("a lock that hangs delays the others once, by the time limit of a request", async () => {
  const a = replica("a", { faults: { "slot-3": FAULTS["hangs"] as Fault } });
  const run = a.run(stop.signal);
  await clock.step(5_000);
  expect(heldBy(a)).toEqual(others);
  // Another replica has crashed: its slots are taken as fast as without the lock that hangs.
  const looks: number[] = [];
  const { get } = sharedLock("wish-5");
  sharedLock("wish-5").get = async (signal) => {
    looks.push(clock.monotonic());
    return await get.call(sharedLock("wish-5"), signal);
  };
  await clock.step(60_000);
  expect(looks).toHaveLength(30);
  stop.abort();
  await clock.run(() => run);
});

it("a lock of the count that fails is named, and held slots stay", async () => {
  let isBroken = false;
  const of: Fault = (lock) => ({
    get: (signal) => (isBroken ? forbidden() : lock.get(signal)),
  });
  const faults = { count: of };
  const a = replica("a", { faults });
  const runs = [a.run(stop.signal)];
  await clock.step(1_000);
  isBroken = true;
  await clock.step(60_000);
  expect(heldBy(a)).toEqual(all);
  const b = replica("b", { faults });
  runs.push(b.run(stop.signal));
  await clock.step(10_000);
  for (const one of [a, b]) expect(one.status().failing.map(({ lock }) => lock)).toEqual(["count"]);
  expect(heldBy(b)).toEqual([]);
  isBroken = false;
  await clock.step(60_000);
  expect([heldBy(a).length, heldBy(b).length]).toEqual([8, 8]);
  stop.abort();
  await Promise.all(runs);
});

describe("while the lock of the count fails", () => {
  const doors = Object.keys(FAULTS).filter((fault) => fault !== "rejects its release");

  it.each(doors)(
    "that %s, replicas that have agreed take the slots of a dead one",
    async (fault) => {
      let isBroken = false;
      const faults = { count: toggled(fault, () => isBroken) };
      const [a, b] = ["a", "b"].map((id) => replica(id, { faults })) as [Shards, Shards];
      const leave = new AbortController();
      const runs = [a.run(stop.signal), b.run(leave.signal)];
      await clock.step(90_000);
      expect([heldBy(a).length, heldBy(b).length]).toEqual([8, 8]);
      isBroken = true;
      await clock.step(60_000);
      leave.abort();
      await clock.step(15_000);
      expect(heldBy(a)).toEqual(all);
      expect(a.status().failing.map(({ lock }) => lock)).toEqual(["count"]);
      // One that has never agreed may have another number.
      const late = replica("late", { faults });
      runs.push(late.run(stop.signal));
      await clock.step(120_000);
      expect([heldBy(a), heldBy(late)]).toEqual([all, []]);
      stop.abort();
      await clock.run(() => Promise.allSettled(runs));
      expect(clock.waiters()).toBe(0);
    },
  );

  it("one that has lost all its slots takes none", async () => {
    let isBroken = false;
    let isLost = false;
    const faults: Record<string, Fault> = { count: toggled("rejects all", () => isBroken) };
    for (const slot of all) faults[`slot-${slot}`] = toggled("rejects all", () => isLost);
    const a = replica("a", { faults });
    const run = a.run(stop.signal);
    await clock.step(10_000);
    [isBroken, isLost] = [true, true];
    await clock.step(60_000);
    isLost = false;
    await clock.step(60_000);
    expect(heldBy(a)).toEqual([]);
    isBroken = false;
    await clock.step(10_000);
    expect(heldBy(a)).toEqual(all);
    stop.abort();
    await clock.run(() => run);
  });
});

it("an emptied file of a lock leaves the other slots", async () => {
  const directory = await mkdtemp(join(tmpdir(), "shards-"));
  try {
    const lockOf = (name: string): ResourceLock => {
      const lock = new FileLock(join(directory, name), { clock });
      const wait = <Value>(request: Promise<Value>) => clock.external(request, name);
      return {
        description: name,
        get: (signal) => wait(lock.get(signal)),
        create: (record, signal) => wait(lock.create(record, signal)),
        update: (record, version, signal) => wait(lock.update(record, version, signal)),
      };
    };
    const first = replica("a", { count: 4, lockOf });
    const run = first.run(stop.signal);
    await clock.step(1_000);
    stop.abort();
    await clock.run(() => run);
    const [file] = (await readdir(join(directory, "slot-2"))).sort().reverse();
    await writeFile(join(directory, "slot-2", file as string), "");
    const next = new AbortController();
    const second = replica("b", { count: 4, lockOf });
    const again = second.run(next.signal);
    await clock.step(1_000);
    expect(heldBy(second)).toEqual([0, 1, 3]);
    expect(second.status().failing.map(({ lock }) => lock)).toEqual(["slot-2"]);
    next.abort();
    await clock.run(() => again);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it("work that fails for one slot leaves a new replica its share", async () => {
  const lead: ShardsOptions["lead"] = async ({ slot, signal }) => {
    if (slot === 3) throw new Error("poisoned");
    await clock.sleep(Number.POSITIVE_INFINITY, { signal });
  };
  const [a, b] = ["a", "b"].map((id) => replica(id, { lead, onError: () => {} })) as [
    Shards,
    Shards,
  ];
  const runs = [a.run(stop.signal)];
  await clock.step(10_000);
  runs.push(b.run(stop.signal));
  await clock.step(120_000);
  expect(heldBy(b).length).toBeGreaterThanOrEqual(7);
  expect([...heldBy(a), ...heldBy(b)]).toEqual(expect.arrayContaining(others));
  stop.abort();
  await Promise.all(runs);
});

describe("work that ignores its signal", () => {
  it.each([
    [1, 2],
    [1, 16],
    [3, 16],
  ])("of %i of %i slots leaves the others, and is named", async (many, count) => {
    const end = new AbortController();
    const hanging = new Set<number>();
    const lead: ShardsOptions["lead"] = async ({ slot, signal }) => {
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
      if (hanging.size === many) return;
      hanging.add(slot);
      await clock.sleep(Number.POSITIVE_INFINITY, { signal: end.signal }).catch(() => {});
    };
    const [a, b, c] = ["a", "b", "c"].map((id) => replica(id, { count, lead })) as [
      Shards,
      Shards,
      Shards,
    ];
    const runs = [a.run(stop.signal)];
    await clock.step(0);
    runs.push(b.run(stop.signal));
    await clock.step(180_000);
    expect([heldBy(a).length, heldBy(b).length]).toEqual([count / 2, count / 2]);
    expect(new Set(a.status().stuck)).toEqual(hanging);
    for (const slot of hanging) {
      const naming = warnings.filter(({ text }) => text.includes(`"slot":${slot},`));
      expect([1, 2, 3]).toContain(naming.length);
    }
    if (count === COUNT) {
      runs.push(c.run(stop.signal));
      await clock.step(300_000);
      expect(heldBy(c).length).toBeGreaterThanOrEqual(5);
    }
    end.abort();
    await clock.step(60_000);
    expect([a, b, c].flatMap(heldBy)).toHaveLength(count);
    expect(a.status().stuck).toEqual([]);
    stop.abort();
    await clock.run(() => Promise.all(runs));
    expect(clock.waiters()).toBe(0);
  });
});
