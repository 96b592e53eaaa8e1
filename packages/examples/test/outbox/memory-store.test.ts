import { MemoryStore } from "../../src/outbox/store/memory-store.ts";
import { testStore } from "./outbox-store.contract.ts";

testStore("MemoryStore", async () => {
  const store = new MemoryStore();
  return { store, transaction: (work) => store.transaction(work) };
});
