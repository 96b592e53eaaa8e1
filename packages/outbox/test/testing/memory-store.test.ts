import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { testStore } from "../store/outbox-store.contract.ts";

testStore("MemoryStore", async ({ order }) => {
  const store = new MemoryStore({ order });
  return { store, transaction: (work) => store.transaction(work) };
});

it("ends one of two transactions that wait for each other, as a database does", async () => {
  const store = new MemoryStore();
  const taking = (...keys: readonly string[]) =>
    store.transaction(async (tx) => {
      for (const key of keys) {
        await store.takeOnce(tx, key, 0, 1);
        await Promise.resolve();
      }
    });
  expect(await Promise.allSettled([taking("a", "b"), taking("b", "a")])).toMatchObject([
    { status: "fulfilled" },
    {
      reason: new Error("deadlock: a transaction that waits for this one has the inbox a"),
    },
  ]);
  await taking("b", "a");
});

it("tells nothing to a listener that begins after its abort", async () => {
  const store = new MemoryStore();
  let notifications = 0;
  const listening = store.listen(() => notifications++, AbortSignal.abort());
  await store.notify();
  await listening;
  expect(notifications).toBe(0);
});
