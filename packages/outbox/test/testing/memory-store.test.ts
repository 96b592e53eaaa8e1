import { MemoryStore } from "@holdfast/outbox/testing";
import { testStore } from "../store/outbox-store.contract.ts";

testStore("MemoryStore", async ({ order }) => {
  const store = new MemoryStore({ order });
  return { store, transaction: (work) => store.transaction(work) };
});
