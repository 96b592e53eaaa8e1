import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { idOf, sample } from "../sample.ts";
import { testStore } from "../store/outbox-store.contract.ts";

testStore("MemoryStore", async ({ order }) => {
  const store = new MemoryStore({ order });
  return { store, transaction: (work) => store.transaction(work) };
});

it("rejects the later commit of two that have saved one id, and adds none of its messages", async () => {
  const store = new MemoryStore();
  const late = store.transaction(async (tx) => {
    await store.save(tx, sample(1), 0);
    await store.save(tx, sample(2), 0);
    await store.transaction((other) => store.save(other, sample(2), 0));
  });
  await expect(late).rejects.toThrow(`message ${idOf(2)} already exists`);
  expect(await store.find(idOf(1))).toBeUndefined();
  expect(await store.backlog()).toMatchObject({ pending: 1 });
});

it("tells nothing to a listener that begins after its abort", async () => {
  const store = new MemoryStore();
  let notifications = 0;
  const listening = store.listen(() => notifications++, AbortSignal.abort());
  await store.notify();
  await listening;
  expect(notifications).toBe(0);
});
