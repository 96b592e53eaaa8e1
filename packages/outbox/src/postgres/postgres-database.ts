import type { Database, Queryable } from "../store/database.ts";

/** A PostgreSQL, on a server or inside the process. */
export interface PostgresDatabase extends Database {
  /**
   * Like `transaction`, at the isolation level `READ COMMITTED`. Optional: a store whose connections have another level
   * by default uses it for its own statements.
   */
  readCommitted?<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value>;

  /**
   * Listens on a channel of `NOTIFY`. Optional.
   *
   * @param channel - a lower case identifier
   * @param onNotify - receives the payload of each notification, and an empty text once it listens: what was sent
   * before, nobody has heard
   * @param signal - ends it, and leaves no listener
   * @returns a promise that resolves on abort, and rejects if the connection is lost
   */
  listen?(channel: string, onNotify: (payload: string) => void, signal: AbortSignal): Promise<void>;
}
