import { FakeClock } from "@holdfast/clock/testing";
import {
  type LeaseRecord,
  MemoryLock,
  type ResourceLock,
  silentLogger,
} from "@holdfast/controller";
import { type OutboxEvent, Recovery, type RecoveryOptions } from "@holdfast/outbox";
import type { Claim } from "@holdfast/outbox/store";
import { faultyStore, MemoryStore, type StoreFaults } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { idOf, numberOf, sample } from "../sample.ts";

const SECOND = 1_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Messages, relays that have claimed them and died, and processes that recover them. */
function setUp() {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const memory = new MemoryStore();
  const lock = new MemoryLock();
  const looks: [number, string][] = [];
  const events: OutboxEvent[] = [];
  const stop = new AbortController();
  const running: Promise<void>[] = [];

  const abandon = async (numbers: readonly number[], lasts = 0, facts = {}): Promise<void> => {
    await memory.transaction(async (tx) => {
      for (const number of numbers) await memory.save(tx, sample(number, facts), clock.now());
    });
    const request = { relay: "relay-9", now: clock.now(), until: clock.now() + lasts };
    await memory.claim({ ...request, limit: numbers.length });
  };
  const begin = (
    name: string,
    options: Partial<RecoveryOptions> & { faults?: StoreFaults } = {},
  ) => {
    const { faults = {}, ...others } = options;
    const store = faultyStore(memory, {
      ...faults,
      before: (request) => {
        if (request === "expired") looks.push([clock.monotonic() - start, name]);
        return faults.before?.(request);
      },
    });
    const onEvent = (event: OutboxEvent): unknown => events.push(event);
    const task = new Recovery({
      name,
      store,
      lock,
      clock,
      jitter: 0,
      onEvent,
      logger: silentLogger,
      ...others,
    });
    running.push(task.run(stop.signal));
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await clock.run(() => Promise.all(running));
    expect(clock.waiters()).toBe(0);
    expect((await lock.get(new AbortController().signal))?.record.holder).toBe("");
  };
  return { clock, memory, lock, looks, events, abandon, begin, end };
}

describe("the recovery", () => {
  it("counts the expired claim of a relay that has died, and no failed attempt", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1], 12 * SECOND);
    begin("a");
    await clock.step(14 * SECOND);
    expect(events).toEqual([]);
    await clock.step(2 * SECOND); // The second round comes after the first, 5 s, and an interval, 10 s.
    expect(events).toMatchObject([{ type: "expired", claim: { relay: "relay-9" } }]);
    expect(await memory.find(idOf(1))).toMatchObject({
      status: "pending",
      failedAttempts: 0,
      expiredClaims: 1,
      lastError: "the claim of relay-9 expired: it died, or could not write the outcome",
      dueAt: clock.now() - SECOND,
    });
    await end();
  });

  it("waits after the second expired claim as after a failure, since its attempt was alone", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1]);
    begin("a");
    for (let expired = 1; expired < 4; expired++) {
      await clock.step(60 * SECOND);
      await memory.claim({ relay: "relay-9", now: clock.now(), until: clock.now(), limit: 1 });
    }
    await clock.step(60 * SECOND);
    const delays = events.flatMap((event) => {
      if (event.type !== "expired") return [];
      const { now, dueAt } = event.failure;
      return [dueAt === undefined ? "dead" : dueAt - now];
    });
    expect(delays).toEqual([0, 10 * SECOND, 20 * SECOND, "dead"]);
    await end();
  });

  it("makes a message dead at its fourth expired claim, not before, for any number of attempts", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1], 0, { maxAttempts: 1, backoff: { duration: 0 } });
    begin("a");
    for (let expired = 1; expired < 4; expired++) {
      await clock.step(20 * SECOND);
      expect(await memory.find(idOf(1))).toMatchObject({
        status: "pending",
        expiredClaims: expired,
      });
      const request = { relay: "relay-9", now: clock.now(), until: clock.now() };
      expect((await memory.claim({ ...request, limit: 1 })).claims).toHaveLength(1);
    }
    await clock.step(20 * SECOND);
    expect(events.map(({ type }) => type)).toEqual([...Array(4).fill("expired"), "dead"]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "dead", expiredClaims: 4 });
    await end();
  });

  it("keeps a message alive whose last attempt was confirmed while the store was unreachable", async () => {
    const { clock, memory, abandon, begin, end } = setUp();
    await abandon([1], 0, { maxAttempts: 2 });
    const [claim] = (await memory.expired(clock.now(), 1)).claims;
    const failure = { now: clock.now(), error: "unreachable", dueAt: clock.now() };
    await memory.write([{ type: "failed", claim: claim as Claim, failure }]);
    // The second and last attempt: confirmed, and never written.
    const now = clock.now();
    await memory.claim({ relay: "relay-9", now, until: now, limit: 1 });
    begin("a");
    await clock.step(SECOND);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "retrying", failedAttempts: 1 });
    await end();
  });

  it("takes at most a batch per round, earliest ended claims first", async () => {
    const { clock, events, abandon, begin, end } = setUp();
    for (const number of range(250)) await abandon([number], 251 - number);
    await clock.step(SECOND);
    begin("a");
    const numbers = (): number[] =>
      events.map((event) => ("claim" in event ? numberOf(event.claim.message.id) : 0));
    await clock.step(SECOND);
    expect(numbers()).toEqual(range(250).reverse().slice(0, 100));
    await clock.step(15 * SECOND);
    expect(numbers()).toHaveLength(200);
    await clock.step(15 * SECOND);
    expect(numbers()).toHaveLength(250);
    await end();
  });

  it("runs every 10 s, and keeps the lock for 5 s", async () => {
    const { clock, looks, begin, end } = setUp();
    begin("a");
    await clock.step(45 * SECOND);
    expect(looks).toEqual([0, 15, 30, 45].map((second) => [second * SECOND, "a"]));
    await end();
  });

  it("waits for the lock for at most 5 s, so two processes never run it at the same time", async () => {
    const { clock, looks, begin, end } = setUp();
    begin("a", { random: () => 0 });
    await clock.step(2 * SECOND);
    begin("b", { random: () => 0 });
    await clock.step(120 * SECOND);
    const distances = looks.slice(1).map(([at], i) => at - (looks[i]?.[0] ?? 0));
    for (const distance of distances) expect(distance).toBeGreaterThanOrEqual(5 * SECOND);
    expect(new Set(looks.map(([, name]) => name))).toEqual(new Set(["a", "b"]));
    await end();
  });

  it("waits for the lease of a dead holder, over many rounds, and no longer", async () => {
    const { clock, lock, looks, begin, end } = setUp();
    const record: LeaseRecord = {
      holder: "dead",
      leaseDuration: 300_000,
      acquiredAt: 0,
      renewedAt: 0,
      transitions: 7,
    };
    await lock.create(record, new AbortController().signal);
    begin("b");
    await clock.step(300 * SECOND - 1);
    expect(looks).toEqual([]);
    // Its next round begins within an interval, and asks within a retry.
    await clock.step(18 * SECOND);
    expect(looks.length).toBeGreaterThan(0);
    await end();
  });

  it("renews the lock while a round lasts", async () => {
    const { clock, looks, begin, end } = setUp();
    let takes = 100 * SECOND;
    const faults = {
      before: async () => {
        await clock.sleep(takes);
        takes = 0;
      },
    };
    begin("a", { leaseDuration: 30_000, storeTimeout: 1e6, faults });
    await clock.step(1);
    begin("b", { leaseDuration: 30_000 });
    await clock.step(95 * SECOND);
    expect(looks).toEqual([[0, "a"]]);
    await clock.step(60 * SECOND);
    expect(looks.map(([, name]) => name)).toContain("b");
    await end();
  });

  it("cannot write after a pause longer than its lease, once another holder has written", async () => {
    const { clock, memory, lock, events, abandon, begin, end } = setUp();
    await abandon([1, 2]);
    // It stands still right before its first write, and so do all its requests to the lock.
    const pause = new AbortController();
    const goOn = (): Promise<unknown> => clock.sleep(1e9, { signal: pause.signal }).catch(() => {});
    const late: unknown[] = [];
    const faults: StoreFaults = {
      before: async (request) => {
        if (request === "recover") await goOn();
      },
      failed: (_, error) => late.push(error),
    };
    begin("a", {
      lock: stoppedAfter(2, lock, goOn),
      leaseDuration: 30_000,
      storeTimeout: 1e8,
      faults,
    });
    await clock.step(SECOND);
    begin("b", { leaseDuration: 30_000, batch: 1 });
    await clock.step(45 * SECOND);
    expect(events.map(({ type }) => type)).toContain("expired");
    const [first, second] = [await memory.find(idOf(1)), await memory.find(idOf(2))];
    pause.abort();
    await clock.step(1);
    expect(late).toMatchObject([{ code: "ERR_OUTBOX_STALE_FENCE" }]);
    expect([await memory.find(idOf(1)), await memory.find(idOf(2))]).toEqual([first, second]);
    await clock.step(60 * SECOND);
    expect(await memory.find(idOf(2))).toMatchObject({ status: "pending", expiredClaims: 1 });
    await end();
  });

  it("finishes the current write when it is stopped, and begins no other", async () => {
    const { clock, memory, lock, abandon, begin, end } = setUp();
    await abandon([1, 2]);
    const holders: (string | undefined)[] = [];
    const before: StoreFaults["before"] = async (request) => {
      if (request !== "recover") return;
      await clock.sleep(2 * SECOND);
      holders.push((await lock.get(new AbortController().signal))?.record.holder);
    };
    begin("a", { faults: { before } });
    await clock.step(SECOND);
    await end();
    const lost = [await memory.find(idOf(1)), await memory.find(idOf(2))];
    expect(lost.map((message) => message?.expiredClaims)).toEqual([1, 0]);
    expect(holders).toEqual(["a/recovery"]);
  });

  it("may take longer than acquireTimeout once it has the lock", async () => {
    const { clock, events, abandon, begin, end } = setUp();
    await abandon([1, 2, 3]);
    const before: StoreFaults["before"] = (request) =>
      request === "recover" ? clock.sleep(3 * SECOND) : undefined;
    begin("a", { acquireTimeout: 5 * SECOND, faults: { before } });
    await clock.step(9 * SECOND);
    expect(events.map(({ type }) => type)).toEqual(["expired", "expired", "expired"]);
    await end();
  });

  it("reports an unavailable store, and repeats the failed work", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1]);
    let isAway = true;
    begin("a", {
      faults: {
        before: () => {
          if (isAway) throw new Error("connection refused");
        },
      },
    });
    await clock.step(25 * SECOND);
    expect(events).toMatchObject(range(3).map(() => ({ type: "error" })));
    isAway = false;
    await clock.step(10 * SECOND);
    expect(await memory.find(idOf(1))).toMatchObject({ expiredClaims: 1 });
    await end();
  });

  it("continues with the others when one cannot be written", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1, 2, 3]);
    let requests = 0;
    begin("a", {
      faults: {
        before: (request) => {
          if (request === "recover" && ++requests % 3 === 1) throw new Error("out of range");
        },
      },
    });
    await clock.step(SECOND);
    expect(events.map(({ type }) => type)).toEqual(["error", "expired", "expired"]);
    expect((await memory.expired(clock.now() + 1e9, 9)).claims).toHaveLength(1);
    await end();
  });

  it("reports nothing for a claim whose relay writes its outcome first", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1]);
    const [claim] = (await memory.expired(clock.now(), 1)).claims;
    const before: StoreFaults["before"] = async (request) => {
      if (request !== "recover") return;
      await memory.write([{ type: "delivered", claim: claim as Claim, now: clock.now() }]);
    };
    begin("a", { faults: { before } });
    await clock.step(SECOND);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "delivered", expiredClaims: 0 });
    expect(events).toEqual([]);
    await end();
  });

  it("reports a row that is not a message, and continues with the others", async () => {
    const { clock, memory, events, abandon, begin, end } = setUp();
    await abandon([1]);
    const row = { id: idOf(2), problem: "payload: is not JSON" };
    const store: RecoveryOptions["store"] = {
      expired: async (now, limit) => ({ ...(await memory.expired(now, limit)), invalid: [row] }),
      recover: memory.recover.bind(memory),
    };
    begin("a", { store });
    await clock.step(SECOND);
    expect(events).toMatchObject([{ type: "invalid", row }, { type: "expired" }]);
    await end();
  });

  it("is not blocked by a store that never responds", async () => {
    const { clock, memory, abandon, begin, end } = setUp();
    await abandon([1]);
    let hangs = true;
    begin("a", {
      faults: {
        before: () => (hangs ? new Promise<void>(() => {}) : undefined),
      },
    });
    await clock.step(25 * SECOND);
    hangs = false;
    await clock.step(25 * SECOND);
    expect(await memory.find(idOf(1))).toMatchObject({ expiredClaims: 1 });
    await end();
  });

  it.each<[string, Partial<RecoveryOptions>, RegExp]>([
    ["no name", { name: "" }, /options\.name/],
    ["no interval", { interval: 0 }, /options\.interval/],
    ["a batch of nothing", { batch: 0 }, /options\.batch/],
    ["a round below 0", { minRound: -1 }, /options\.minRound/],
    ["a lease of NaN", { leaseDuration: Number.NaN }, /options\.leaseDuration/],
  ])("refuses %s", (_, options, problem) => {
    const [store, lock] = [new MemoryStore(), new MemoryLock()];
    expect(() => new Recovery({ name: "a", store, lock, ...options })).toThrow(problem);
  });
});

/** A lock as a process sees it that is paused after so many requests. */
function stoppedAfter(
  count: number,
  lock: ResourceLock,
  goOn: () => Promise<unknown>,
): ResourceLock {
  let requests = 0;
  const wait = async (): Promise<void> => {
    if (++requests > count) await goOn();
  };
  return {
    description: "paused",
    get: async (signal) => {
      await wait();
      return await lock.get(signal);
    },
    create: async (record, signal) => {
      await wait();
      return await lock.create(record, signal);
    },
    update: async (record, version, signal) => {
      await wait();
      return await lock.update(record, version, signal);
    },
  };
}
