import { MemoryStore } from "../../src/testing/memory-store.ts";
import { testStore } from "../store/outbox-store.contract.ts";

testStore("MemoryStore", async ({ order }) => {
  const store = new MemoryStore({ order });
  return { store, transaction: (work) => store.transaction(work) };
});
