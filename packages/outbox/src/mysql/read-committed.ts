import type { Clock } from "@holdfast/clock";
import { retry } from "@holdfast/wait";
import type { Database, Queryable } from "../store/database.ts";

/** A database of MySQL or MariaDB. */
export interface ReadCommittedDatabase extends Database {
  /**
   * Like `transaction`, at the isolation level `READ COMMITTED`: it locks rows, and no gaps between them,
   * so that a `save` does not wait for a claim.
   */
  readCommitted<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value>;
}

/**
 * The server ended a transaction or a statement in favour of others: a row has changed since it was read (MariaDB with
 * innodb_snapshot_isolation), a lock was waited for too long, a deadlock.
 */
const IN_FAVOUR_OF_OTHERS = [1020, 1205, 1213];

/**
 * How often, and after which waits in milliseconds, a transaction is tried again. Without jitter: of those
 * in a deadlock the server ends one, and the others continue.
 */
const RETRIES = 5;
const BACKOFF = { duration: 5, factor: 2 };

/** Runs a transaction of the outbox itself, again if the server ended it in favour of others. */
export function ownTransaction<Value>(
  database: ReadCommittedDatabase,
  work: (tx: Queryable) => Promise<Value>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Value> {
  return retry(() => database.readCommitted(work, signal), {
    clock,
    signal,
    backoff: BACKOFF,
    retries: RETRIES,
    shouldRetry: ({ error }) => IN_FAVOUR_OF_OTHERS.some((number) => hasNumber(error, number)),
  });
}

/** Whether an error is the server's of this number, or is caused by it: query layers wrap errors. */
export function hasNumber(error: unknown, number: number): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if ("errno" in cause && cause.errno === number) return true;
    cause = cause.cause;
  }
  return false;
}
