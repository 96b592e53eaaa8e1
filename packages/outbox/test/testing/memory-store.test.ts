import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { testStore } from "../store/outbox-store.contract.ts";

testStore("MemoryStore", async ({ order }) => {
  const store = new MemoryStore({ order });
  return { store, transaction: (work) => store.transaction(work) };
});

it("tells nothing to a listener that begins after its abort", async () => {
  const store = new MemoryStore();
  let notifications = 0;
  const listening = store.listen(() => notifications++, AbortSignal.abort());
  await store.notify();
  await listening;
  expect(notifications).toBe(0);
});
