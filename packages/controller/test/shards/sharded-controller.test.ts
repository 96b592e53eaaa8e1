import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  fromCallback,
  fromIterable,
  type KeyShards,
  Manager,
  MemoryLock,
  Shards,
  type ShardsOptions,
  type SlotLeadership,
  type Source,
  silentLogger,
  slotOf,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const COUNT = 4;
const KEYS = Array.from({ length: 12 }, (_, index) => `key-${index}`);

let clock: FakeClock;
let locks: Map<string, MemoryLock>;
let start: number;

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  locks = new Map();
});

function lockOf(name: string): MemoryLock {
  const lock = locks.get(name) ?? new MemoryLock();
  locks.set(name, lock);
  return lock;
}

/** A stretch of work on a key. */
interface Span {
  readonly who: string;
  readonly key: string;
  readonly token: number | undefined;
  readonly from: number;
  to: number;
}

const spans: Span[] = [];
beforeEach(() => {
  spans.length = 0;
});

interface Process {
  readonly shards: Shards;
  readonly controller: Controller;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** All keys at the start, and those that are added later. */
const everything: Source = fromCallback("keys", (enqueue) => {
  for (const key of KEYS) enqueue(key);
  return () => {};
});

function begin(
  who: string,
  options: Partial<ControllerOptions> = {},
  sharding: Partial<ShardsOptions> = {},
): Process {
  const common = { clock, logger: silentLogger, random: () => 0 };
  const shards = new Shards({ count: COUNT, identity: who, lockOf, ...common, ...sharding });
  const controller = new Controller({
    name: "keys",
    sources: [everything],
    workers: 20,
    reconcile: async ({ key, signal, leadership }) => {
      const span = {
        who,
        key,
        token: leadership?.token,
        from: now(),
        to: Number.POSITIVE_INFINITY,
      };
      spans.push(span);
      try {
        await clock.sleep(100, { signal });
      } finally {
        span.to = now();
      }
    },
    ...common,
    ...options,
  });
  const stop = new AbortController();
  const ended = Promise.all([
    shards.run(stop.signal),
    controller.run(stop.signal, { shards }),
  ]).then(() => {});
  return { shards, controller, stop, ended };
}

/** One slot, whose terms the test begins and ends. */
class OneSlot implements KeyShards {
  #lead: ((leadership: SlotLeadership) => unknown) | undefined;

  slotOf(): number {
    return 0;
  }

  join(lead: (leadership: SlotLeadership) => unknown): Disposable {
    this.#lead = lead;
    return { [Symbol.dispose]: () => {} };
  }

  begin(token: number, signal: AbortSignal): void {
    void this.#lead?.({ slot: 0, token, signal, lost: signal, isHeld: true });
  }
}

const now = (): number => clock.monotonic() - start;
const keysOf = (who: string, from = 0): string[] =>
  [
    ...new Set(spans.filter((one) => one.who === who && one.from >= from).map(({ key }) => key)),
  ].sort();
const ofSlots = (slots: readonly number[]): string[] =>
  KEYS.filter((key) => slots.includes(slotOf(key, COUNT))).sort();

describe("a controller that runs with shards", () => {
  it("works on the keys of its slots, and on those that come, once each", async () => {
    const a = begin("a");
    await clock.step(1_000);
    expect(keysOf("a")).toEqual([...KEYS].sort());
    expect(spans).toHaveLength(KEYS.length);
    const b = begin("b");
    await clock.step(30_000);
    const given = b.shards.status().held;
    expect(given).toHaveLength(2);
    expect(keysOf("b")).toEqual(ofSlots(given));
    // The one that keeps its slots begins none of their keys again.
    expect(spans).toHaveLength(KEYS.length + ofSlots(given).length);
    expect(spans.filter(({ who }) => who === "b").every(({ token }) => token === 1)).toBe(true);
    const back = now();
    b.stop.abort();
    await b.ended;
    await clock.step(10_000);
    expect(keysOf("a", back)).toEqual(ofSlots(given));
    a.stop.abort();
    await a.ended;
    expect(clock.waiters()).toBe(0);
    for (const { stop } of [a, b]) expect(abortListeners(stop.signal)).toBe(0);
    expect(a.controller.status().drain).toMatchObject({ finished: true, running: [], queued: [] });
  });

  it("finishes the keys in flight of a slot before it is released", async () => {
    const a = begin("a", {
      reconcile: async ({ key }) => {
        const span = { who: "a", key, token: 0, from: now(), to: Number.POSITIVE_INFINITY };
        spans.push(span);
        await clock.sleep(12_000);
        span.to = now();
        return { requeueAfter: 0 };
      },
    });
    await clock.step(1_000);
    const b = begin("b");
    await clock.step(60_000);
    const [first] = spans.filter(({ who }) => who === "b").map(({ key, from }) => ({ key, from }));
    expect(first).toBeDefined();
    for (const one of spans.filter(({ who }) => who === "b"))
      for (const other of spans.filter(({ who, key }) => who === "a" && key === one.key))
        expect(other.to).toBeLessThanOrEqual(one.from);
    for (const { stop } of [a, b]) stop.abort();
    await clock.step(60_000);
    await Promise.all([a.ended, b.ended]);
  });

  it("aborts the keys of a slot that is lost, and those alone, and begins none of it", async () => {
    let isDown = false;
    const aborted: string[] = [];
    const faulty = (name: string): MemoryLock => {
      const lock = lockOf(name);
      const { update } = lock;
      if (name !== "slot-1") return lock;
      lock.update = async (...args) => {
        if (isDown) throw new Error("down");
        return await update.apply(lock, args);
      };
      return lock;
    };
    const reconcile: ControllerOptions["reconcile"] = async ({ key, signal }) => {
      spans.push({ who: "a", key, token: 0, from: now(), to: 0 });
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch((error) => {
        aborted.push(key);
        throw error;
      });
    };
    const a = begin("a", { reconcile }, { lockOf: faulty, onError: () => {} });
    await clock.step(1_000);
    isDown = true;
    await clock.step(12_000);
    expect(a.shards.status().held).toEqual([0, 2, 3]);
    expect([...aborted].sort()).toEqual(ofSlots([1]));
    const [key = ""] = ofSlots([1]);
    const before = spans.length;
    a.controller.add(key);
    await clock.step(1_000);
    expect(spans).toHaveLength(before);
    expect(a.controller.status().queue).toEqual({
      size: 0,
      delayed: 0,
      inFlight: ofSlots([0, 2, 3]).length,
    });
    isDown = false;
    await clock.step(10_000);
    expect(
      spans
        .slice(before)
        .map(({ key: again }) => again)
        .sort(),
    ).toEqual(ofSlots([1]));
    a.stop.abort();
    await clock.step(20_000);
    await a.ended;
  });

  it("drops the retry of a key whose slot has gone", async () => {
    const a = begin("a", {
      reconcile: ({ key }) => {
        spans.push({ who: "a", key, token: 0, from: now(), to: now() });
        return { requeueAfter: 20_000 };
      },
    });
    await clock.step(1_000);
    const b = begin("b");
    await clock.step(15_000);
    const from = now();
    await clock.step(20_000);
    expect(keysOf("a", from)).toEqual(ofSlots(a.shards.status().held));
    for (const { stop } of [a, b]) stop.abort();
    await Promise.all([a.ended, b.ended]);
  });

  it("starts a source again that has ended", async () => {
    const list = fromIterable("list", async function* () {
      yield* KEYS;
    });
    const a = begin("a", { sources: [list] });
    await clock.step(1_000);
    expect(keysOf("a")).toEqual([...KEYS].sort());
    expect(a.controller.status().sources).toMatchObject([{ state: "ended", restarts: 0 }]);
    a.stop.abort();
    await a.ended;
    expect(clock.waiters()).toBe(0);
  });

  it("gets them from its manager, before or after they hold slots", async () => {
    const shards = new Shards({ count: COUNT, identity: "a", lockOf, clock, logger: silentLogger });
    const stop = new AbortController();
    const holding = shards.run(stop.signal);
    await clock.step(1_000);
    const seen: string[] = [];
    const manager = new Manager({ clock, logger: silentLogger });
    manager.add(
      new Controller({
        name: "keys",
        sources: [everything],
        reconcile: ({ key }) => void seen.push(key),
        clock,
        logger: silentLogger,
      }),
    );
    const running = manager.run(stop.signal, { shards });
    await clock.step(1_000);
    expect([...seen].sort()).toEqual([...KEYS].sort());
    stop.abort();
    await clock.step(1_000);
    await Promise.all([holding, running]);
  });

  it("refuses shards beside a leadership, and shards refuse work beside their option lead", async () => {
    const signal = new AbortController().signal;
    const leadership = { token: 0, signal, lost: signal, isHeld: true };
    const options = { count: COUNT, identity: "a", lockOf, clock, logger: silentLogger };
    const controller = new Controller({ name: "a", reconcile: () => {}, clock });
    await expect(controller.run(leadership, { shards: new Shards(options) })).rejects.toThrow(
      "options.shards must be undefined in a run under a leadership",
    );
    const busy = new Shards({ ...options, lead: () => {} });
    expect(() => busy.join(() => {})).toThrow("shards with options.lead do that work alone");
  });
});

describe("a controller with one slot", () => {
  let shards: OneSlot;
  let stop: AbortController;
  let running: Promise<void>;
  let controller: Controller;
  /** Each start of the source, and each reconcile with its token. */
  let begun: string[];

  beforeEach(() => {
    shards = new OneSlot();
    stop = new AbortController();
    begun = [];
    controller = new Controller({
      name: "keys",
      sources: [
        {
          name: "slow to end",
          start: async (_, signal) => {
            begun.push("source");
            await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
            await clock.sleep(100);
          },
        },
      ],
      reconcile: async ({ key, leadership, signal }) => {
        begun.push(`${key} ${leadership?.token}`);
        if (key === "slow")
          await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => clock.sleep(100));
      },
      clock,
      logger: silentLogger,
    });
    running = controller.run(stop.signal, { shards });
  });

  async function end(): Promise<void> {
    stop.abort();
    await clock.run(() => running);
    expect(clock.waiters()).toBe(0);
  }

  it("goes on with a slot that was lost, and came back before its keys had ended", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    shards.begin(1, first.signal);
    controller.add("slow");
    await clock.step(0);
    first.abort();
    await clock.step(50);
    shards.begin(2, second.signal);
    await clock.step(1_000);
    controller.add("quick");
    await clock.step(0);
    expect(begun).toEqual(["source", "source", "slow 1", "source", "quick 2"]);
    await end();
  });

  it("does nothing for a term that is over when it hears of it", async () => {
    await clock.step(0);
    shards.begin(1, AbortSignal.abort());
    controller.add("quick");
    await clock.step(0);
    expect(begun).toEqual(["source"]);
    await end();
  });

  it("starts no source for a slot that comes while it stops", async () => {
    await clock.step(0);
    stop.abort();
    await clock.step(50);
    shards.begin(1, new AbortController().signal);
    await clock.step(0);
    expect(begun).toEqual(["source"]);
    await end();
  });
});
