import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { type OutboxEvent, Recovery, Retention, type RetentionOptions } from "@holdfast/outbox";
import { faultyStore, MemoryStore, type StoreFaults } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { deliver, fail } from "../outcomes.ts";
import { sample } from "../sample.ts";

const AGE = 600_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Confirmed messages, and processes that remove them when they are old. */
function setUp({ faults = {} }: { faults?: StoreFaults } = {}) {
  const clock = new FakeClock();
  const memory = new MemoryStore();
  const lock = new MemoryLock();
  const events: OutboxEvent[] = [];
  const batches: number[] = [];
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const store = faultyStore(memory, {
    ...faults,
    before: (request) => {
      if (request === "removeDelivered") batches.push(clock.monotonic());
      return faults.before?.(request);
    },
  });

  const confirm = async (numbers: readonly number[]): Promise<void> => {
    await memory.transaction(async (tx) => {
      for (const number of numbers) await memory.save(tx, sample(number), clock.now());
    });
    const request = { relay: "relay", now: clock.now(), until: clock.now() + 1 };
    const { claims } = await memory.claim({ ...request, limit: 100 });
    for (const claim of claims) await deliver(memory, claim, clock.now());
  };
  const begin = (name: string, options: Partial<RetentionOptions> = {}): void => {
    const onEvent = (event: OutboxEvent): unknown => events.push(event);
    const retention = new Retention({
      name,
      store,
      lock,
      clock,
      onEvent,
      logger: silentLogger,
      olderThan: 7 * AGE,
      ...options,
    });
    running.push(retention.run(stop.signal));
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await clock.run(() => Promise.all(running));
    expect(clock.waiters()).toBe(0);
    expect((await lock.get(new AbortController().signal))?.record.holder).toBe("");
  };
  const removed = (): number[] =>
    events.flatMap((event) => (event.type === "removed" ? [event.count] : []));
  return { clock, memory, lock, events, batches, running, stop, confirm, begin, end, removed };
}

it("removes messages confirmed before the limit, and reports the count", async () => {
  const { clock, memory, confirm, begin, end, removed } = setUp();
  await confirm([1, 2, 3]);
  await clock.step(AGE);
  await confirm([4]);
  begin("a");
  await clock.step(6 * AGE);
  expect([removed(), await memory.counts()]).toMatchObject([[], { delivered: 4 }]);
  await clock.step(60_000);
  expect([removed(), await memory.counts()]).toMatchObject([[3], { delivered: 1 }]);
  await clock.step(AGE);
  expect([removed(), await memory.counts()]).toMatchObject([[3, 1], { delivered: 0 }]);
  await end();
});

it("keeps unconfirmed messages of any age", async () => {
  const { clock, memory, begin, end } = setUp();
  await memory.transaction(async (tx) => {
    for (const number of range(3)) await memory.save(tx, sample(number), clock.now());
  });
  const request = { relay: "relay", now: clock.now(), until: clock.now() + 1 };
  const [dead, failed] = (await memory.claim({ ...request, limit: 100 })).claims;
  const failure = { now: clock.now(), error: "unreachable", dueAt: undefined };
  if (dead === undefined || failed === undefined) throw new Error("not claimed");
  await fail(memory, dead, failure);
  await fail(memory, failed, { ...failure, dueAt: clock.now() });
  begin("a");
  await clock.step(20 * AGE);
  expect(await memory.counts()).toEqual({ pending: 1, retrying: 1, delivered: 0, dead: 1 });
  await end();
});

it("removes in batches with a pause between them, and reports one sum per round", async () => {
  const { clock, batches, confirm, begin, end, removed } = setUp();
  await confirm(range(25));
  await clock.step(8 * AGE);
  const start = clock.monotonic();
  begin("a", { batch: 10 });
  await clock.step(1_000);
  expect(batches.map((at) => at - start)).toEqual([0, 50, 100]);
  expect(removed()).toEqual([25]);
  await end();
});

it("works in one process at a time, and alternates with a recovery on the same lock", async () => {
  const { clock, lock, memory, events, running, stop, confirm, begin, end, removed } = setUp();
  let busy = 0;
  let most = 0;
  const watch = async (takes: number): Promise<void> => {
    most = Math.max(most, ++busy);
    await clock.sleep(takes);
    busy--;
  };
  const faults: StoreFaults = { before: () => watch(500) };
  const store = faultyStore(memory, faults);
  for (const name of ["a", "b"]) {
    begin(name, { store, interval: 5_000, olderThan: AGE });
    const recovery = new Recovery({
      name,
      store,
      lock,
      clock,
      minRound: 0,
      logger: silentLogger,
      onEvent: (event) => events.push(event),
    });
    running.push(recovery.run(stop.signal));
  }
  await confirm(range(3));
  await clock.step(2 * AGE);
  expect(removed()).toEqual([3]);
  expect(most).toBe(1);
  await end();
});

it("reports an unavailable store with the removed count, and continues in the next round", async () => {
  let requests = 0;
  const before = (request: string): void => {
    if (request === "removeDelivered" && ++requests === 2) throw new Error("connection refused");
  };
  const { clock, events, confirm, begin, end, removed } = setUp({ faults: { before } });
  await confirm(range(15));
  await clock.step(8 * AGE);
  begin("a", { batch: 10 });
  await clock.step(10_000);
  expect(events.map(({ type }) => type)).toEqual(["removed", "error"]);
  await clock.step(120_000);
  expect(removed()).toEqual([10, 5]);
  await end();
});

it("stops between two batches", async () => {
  const { clock, batches, confirm, begin, end } = setUp();
  await confirm(range(100));
  await clock.step(8 * AGE);
  begin("a", { batch: 1 });
  await clock.step(120);
  await end();
  expect(batches).toHaveLength(3);
});
