import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { Outbox } from "../src/outbox.ts";
import { MemoryStore, MemoryTransaction } from "../src/testing/memory-store.ts";
import { idOf, sample } from "./sample.ts";

function setUp() {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const told: (readonly string[])[] = [];
  const outbox = new Outbox<MemoryTransaction>({
    store,
    transaction: (work) => store.transaction(work),
    onCommitted: (ids) => told.push(ids),
    clock,
  });
  return { clock, store, told, outbox };
}

it("reports saved messages after the commit, in order, and returns the result of the work", async () => {
  const { store, told, outbox } = setUp();
  const value = await outbox.transaction(async (tx) => {
    await outbox.save(tx, sample(2));
    await outbox.save(tx, sample(1));
    expect(told).toEqual([]);
    expect(await store.find(idOf(1))).toBeUndefined();
    return "sold";
  });
  expect(value).toBe("sold");
  expect(told).toEqual([[idOf(2), idOf(1)]]);
});

it("announces nothing when the work fails, and rejects with its error", async () => {
  const { store, told, outbox } = setUp();
  const error = new Error("no stock");
  const sold = outbox.transaction(async (tx) => {
    await outbox.save(tx, sample(1));
    throw error;
  });
  await expect(sold).rejects.toBe(error);
  expect(told).toEqual([]);
  expect(await store.counts()).toMatchObject({ pending: 0 });
});

it("announces nothing when nothing was saved", async () => {
  const { told, outbox } = setUp();
  await outbox.transaction(async () => {});
  expect(told).toEqual([]);
});

it("announces nothing when a message is refused", async () => {
  const { told, outbox } = setUp();
  const save = () => outbox.transaction((tx) => outbox.save(tx, sample(1)));
  await save();
  await expect(save()).rejects.toThrow("must be new");
  expect(told).toEqual([[idOf(1)]]);
});

it("separates concurrent transactions", async () => {
  const { clock, told, outbox } = setUp();
  const sell = (number: number, takes: number): Promise<void> =>
    outbox.transaction(async (tx) => {
      await outbox.save(tx, sample(number));
      await clock.sleep(takes);
      if (number === 2) throw new Error("no stock");
    });
  await clock.run(() => Promise.allSettled([sell(1, 300), sell(2, 200), sell(3, 100)]));
  expect(told).toEqual([[idOf(3)], [idOf(1)]]);
});

it("accepts the commit of a caller's transaction, and counts it once", async () => {
  const { told, outbox } = setUp();
  const tx = new MemoryTransaction();
  await outbox.save(tx, sample(1));
  expect(told).toEqual([]);
  outbox.committed(tx);
  outbox.committed(tx);
  expect(told).toEqual([[idOf(1)]]);
});

it("takes the time of a message from its clock", async () => {
  const { clock, outbox } = setUp();
  await clock.step(1_234);
  const { createTime, nextScheduleTime } = await outbox.save(new MemoryTransaction(), sample(1));
  expect([createTime, nextScheduleTime]).toEqual([clock.now(), clock.now() + 10_000]);
});

it("works without options.transaction, and names the alternative when one is needed", async () => {
  const outbox = new Outbox({ store: new MemoryStore() });
  await expect(outbox.transaction(async () => {})).rejects.toThrow(
    new TypeError(
      "options.transaction is missing: pass it, or save in your own transaction and call committed(tx)",
    ),
  );
});

it("has no statements for a store that is not an SQL database", () => {
  const outbox = new Outbox({ store: new MemoryStore() });
  expect(() => outbox.statements({}, sample(1))).toThrow(
    new TypeError("options.store must be a SQL store to use statements()"),
  );
});

it("notifies relays of other processes only without a relay of its own", async () => {
  const notified = async (onCommitted?: () => void): Promise<string[]> => {
    const store = new MemoryStore();
    const outbox = new Outbox({
      store,
      transaction: (work) => store.transaction(work),
      onCommitted,
    });
    return await outbox.transaction(async (tx) => {
      await outbox.save(tx, sample(1));
      return tx.notified;
    });
  };
  expect(await notified()).toEqual([idOf(1)]);
  expect(await notified(() => {})).toEqual([]);
});
