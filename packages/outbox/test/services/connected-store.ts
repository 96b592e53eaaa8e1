import type { Database, OutboxStore, Queryable } from "@holdfast/outbox/store";
import type { StoreUnderTest } from "../store/outbox-store.contract.ts";

/** A store with connections of its own. */
export interface ConnectedStore<Tx> extends StoreUnderTest<Tx>, AsyncDisposable {}

/** A store and the database that it is in, which ends with it. */
export function connectedStore(
  database: Database,
  store: OutboxStore<Queryable>,
): ConnectedStore<Queryable> {
  return {
    store,
    transaction: (work) => database.transaction(work),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
