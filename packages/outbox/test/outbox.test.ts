import { FakeClock } from "@holdfast/clock/testing";
import { Outbox } from "@holdfast/outbox";
import { delayAfter, type MessageSchedule } from "@holdfast/outbox/store";
import { MemoryStore, MemoryTransaction } from "@holdfast/outbox/testing";
import { describe, expect, it, vi } from "vitest";
import { idOf, sample } from "./sample.ts";

function setUp() {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const onCommitted = vi.fn();
  const outbox = new Outbox<MemoryTransaction>({
    store,
    transaction: (work) => store.transaction(work),
    onCommitted,
    clock,
  });
  return { clock, store, onCommitted, outbox };
}

it("reports the commit, and returns the result of the work", async () => {
  const { store, onCommitted, outbox } = setUp();
  const value = await outbox.transaction(async (tx) => {
    await outbox.save(tx, sample(2));
    await outbox.save(tx, sample(1));
    expect(onCommitted).not.toHaveBeenCalled();
    expect(await store.find(idOf(1))).toBeUndefined();
    return "sold";
  });
  expect(value).toBe("sold");
  expect(onCommitted).toHaveBeenCalledOnce();
});

it("announces nothing when the work fails, and rejects with its error", async () => {
  const { store, onCommitted, outbox } = setUp();
  const error = new Error("no stock");
  const sold = outbox.transaction(async (tx) => {
    await outbox.save(tx, sample(1));
    throw error;
  });
  await expect(sold).rejects.toBe(error);
  expect(onCommitted).not.toHaveBeenCalled();
  expect(await store.counts()).toMatchObject({ pending: 0 });
});

it("announces nothing when nothing was saved", async () => {
  const { onCommitted, outbox } = setUp();
  await outbox.transaction(async () => {});
  expect(onCommitted).not.toHaveBeenCalled();
});

it("announces nothing when options.transaction has not run the work", async () => {
  const onCommitted = vi.fn();
  const transaction = async () => "left out" as never;
  const outbox = new Outbox({ store: new MemoryStore(), transaction, onCommitted });
  expect(await outbox.transaction(async () => "sold")).toBe("left out");
  expect(onCommitted).not.toHaveBeenCalled();
});

it("announces nothing when a message is refused", async () => {
  const { onCommitted, outbox } = setUp();
  const save = (facts = {}) => outbox.transaction((tx) => outbox.save(tx, sample(1, facts)));
  await save();
  await expect(save({ topic: "" })).rejects.toThrow("message.topic");
  expect(onCommitted).toHaveBeenCalledOnce();
});

it("separates concurrent transactions", async () => {
  const { clock, onCommitted, outbox } = setUp();
  const sell = (number: number, takes: number): Promise<void> =>
    outbox.transaction(async (tx) => {
      await outbox.save(tx, sample(number));
      await clock.sleep(takes);
      if (number === 2) throw new Error("no stock");
    });
  await clock.run(() => Promise.allSettled([sell(1, 300), sell(2, 200), sell(3, 100)]));
  expect(onCommitted).toHaveBeenCalledTimes(2);
});

it("accepts the commit of a caller's transaction, and counts it once", async () => {
  const { onCommitted, outbox } = setUp();
  const tx = new MemoryTransaction();
  await outbox.save(tx, sample(1));
  expect(onCommitted).not.toHaveBeenCalled();
  outbox.committed(tx);
  outbox.committed(tx);
  expect(onCommitted).toHaveBeenCalledOnce();
});

it("takes the time of a message from its clock", async () => {
  const { clock, outbox } = setUp();
  await clock.step(1_234);
  const { createdAt, dueAt } = await outbox.save(new MemoryTransaction(), sample(1));
  expect([createdAt, dueAt]).toEqual([clock.now(), clock.now()]);
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
  const notified = async (onCommitted?: () => void): Promise<number> => {
    const store = new MemoryStore();
    const notify = vi.spyOn(store, "notify");
    const transaction = <Value>(work: (tx: MemoryTransaction) => Promise<Value>) =>
      store.transaction(work);
    const outbox = new Outbox({ store, transaction, onCommitted });
    await outbox.transaction((tx) => outbox.save(tx, sample(1)));
    return notify.mock.calls.length;
  };
  expect(await notified()).toBe(1);
  expect(await notified(() => {})).toBe(0);
});

it("shares a notification between the commits that come while one is under way", async () => {
  const store = new MemoryStore();
  const settle: (() => void)[] = [];
  const notify = vi
    .spyOn(store, "notify")
    .mockImplementation(() => new Promise((resolve) => settle.push(resolve)));
  const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
  const save = (number: number) => outbox.transaction((tx) => outbox.save(tx, sample(number)));
  await Promise.all([1, 2, 3, 4].map(save));
  expect(notify).toHaveBeenCalledTimes(1);
  settle.shift()?.();
  await expect.poll(() => notify).toHaveBeenCalledTimes(2);
  settle.shift()?.();
  await new Promise(setImmediate);
  expect(notify).toHaveBeenCalledTimes(2);
});

it("continues to notify after a notification has failed", async () => {
  const store = new MemoryStore();
  const notify = vi.spyOn(store, "notify").mockRejectedValue(new Error("connection lost"));
  const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
  for (const number of [1, 2]) {
    await outbox.transaction((tx) => outbox.save(tx, sample(number)));
    await new Promise(setImmediate);
  }
  expect(notify).toHaveBeenCalledTimes(2);
});

describe("the schedule of an outbox", () => {
  const open = (options: MessageSchedule) => {
    const store = new MemoryStore();
    return new Outbox({ store, transaction: (work) => store.transaction(work), ...options });
  };
  const saved = async (options: MessageSchedule, message: MessageSchedule) => {
    const outbox = open(options);
    return await outbox.transaction((tx) =>
      outbox.save(tx, { topic: "t", key: "k", payload: 1, ...message }),
    );
  };

  it("is 25 attempts over about three days by default", async () => {
    const { maxAttempts, backoff, expiresAt } = await saved({}, {});
    expect([maxAttempts, expiresAt]).toEqual([25, undefined]);
    const delays = Array.from({ length: 24 }, (_, i) => delayAfter(i + 1, backoff));
    const hours = delays.reduce((sum, delay) => sum + delay) / 3_600_000;
    expect([delays[0], delays.at(-1), Math.round(hours)]).toEqual([10_000, 5 * 3_600_000, 71]);
  });

  it("is that of messages that name none", async () => {
    const outbox = { maxAttempts: 7, maxAge: 60_000, backoff: { duration: 1, cap: 9 } };
    const { createdAt, ...message } = await saved(outbox, { maxAttempts: 3 });
    const backoff = { duration: 1, factor: 2, cap: 9 };
    expect(message).toMatchObject({ maxAttempts: 3, expiresAt: createdAt + 60_000, backoff });
    expect(await saved(outbox, { backoff: {}, maxAge: Number.POSITIVE_INFINITY })).toMatchObject({
      backoff: { duration: 10_000, factor: 2, cap: 5 * 3_600_000 },
      expiresAt: undefined,
    });
  });

  it("has a cap of at least its first delay", async () => {
    const day = 86_400_000;
    expect((await saved({ backoff: { duration: day } }, {})).backoff.cap).toBe(day);
    expect(() => open({ backoff: { duration: 2, cap: 1 } })).toThrow(
      new RangeError("options.backoff.cap must be at least options.backoff.duration, 2, got 1"),
    );
  });
});
