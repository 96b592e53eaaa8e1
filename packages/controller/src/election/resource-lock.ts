import { isLeaseRecord, type LeaseRecord } from "./lease-record.ts";

/** A record and its version. */
export interface Versioned {
  /** The record that was read or written. */
  readonly record: LeaseRecord;

  /** Changes with each write, by any process, and never returns to an earlier value. */
  readonly version: string;
}

/**
 * Lock on which electors compete: one record that only a writer with its latest version can replace.
 *
 * | Call | Resolves to | Rejects with a {@link LockConflictError} if |
 * | --- | --- | --- |
 * | `get` | the record; undefined if there is none | |
 * | `create` | the new record | there is a record |
 * | `update` | the new record | the record has changed since it was read |
 *
 * A request that resolves to anything else counts as rejected with a TypeError: also a write that
 * resolves to a record of another term, or to the version that it replaced.
 *
 * After any other rejection the write may or may not have happened. A request should give up when its
 * signal aborts. An elector does not wait for a request that continues: a late write fails, because the
 * version has changed. The exception is an elector that is stopped while it acquires the lease. It
 * waits up to 5 s for its write, to release a lease that it may still get.
 *
 * Source: `Interface` of k8s.io/client-go/tools/leaderelection/resourcelock.
 *
 * @example
 * ```ts
 * import { isLockConflictError, type LeaseRecord, MemoryLock, type ResourceLock } from "@holdfast/controller";
 *
 * // Makes a holder lead at once, until its lease runs out.
 * async function appoint(holder: string, lock: ResourceLock, signal: AbortSignal) {
 *   const found = await lock.get(signal);
 *   const record: LeaseRecord = {
 *     holder, leaseDuration: 15_000, acquiredAt: 0, renewedAt: 0,
 *     transitions: found === undefined ? 0 : found.record.transitions + 1,
 *   };
 *   if (found === undefined) return await lock.create(record, signal);
 *   return await lock.update(record, found.version, signal);
 * }
 *
 * const lock = new MemoryLock();
 * const { signal } = new AbortController();
 * const { version } = await appoint("a", lock, signal);
 * const { record } = await appoint("b", lock, signal);
 * console.log(record.holder, record.transitions); // => b 1
 * const late = await lock.update(record, version, signal).catch((error) => error);
 * console.log(isLockConflictError(late)); // => true
 * ```
 */
export interface ResourceLock {
  /**
   * Reads the record.
   *
   * @param signal - aborts the request
   */
  get(signal: AbortSignal): Promise<Versioned | undefined>;

  /**
   * Writes the first record.
   *
   * @param record - the new record
   * @param signal - aborts the request
   */
  create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned>;

  /**
   * Replaces the record, if it still has `version`.
   *
   * @param record - the new record
   * @param version - version of the record to replace
   * @param signal - aborts the request
   */
  update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned>;

  /**
   * Reads the records of several locks in one request, for `Shards`, which look at all their locks at a time.
   *
   * @param locks - locks of this class and place, this one among them
   * @param signal - aborts the request
   * @returns what `get` resolves to, for each of `locks` in their order
   * @defaultValue none: `Shards` call `get` of each lock
   */
  list?(
    locks: readonly ResourceLock[],
    signal: AbortSignal,
  ): Promise<readonly (Versioned | undefined)[]>;

  /**
   * Smallest token of the next term, such as milliseconds since the epoch. It keeps tokens growing if the record of
   * the lock may be removed or edited. Read before each term. Whole, at least 0.
   *
   * @defaultValue `0`
   */
  readonly firstToken?: number | undefined;

  /** Kind and place of the lock, for logs and errors. */
  readonly description: string;
}

/**
 * Validates the response of a lock: a lock in JavaScript may resolve to anything.
 *
 * @throws TypeError if `value` is not a record with its version
 */
export function requireVersioned(call: string, value: Versioned): Versioned {
  const { record, version } = (value ?? {}) as Partial<Versioned>;
  if (!isLeaseRecord(record) || typeof version !== "string")
    throw new TypeError(`${call} must resolve to a record and its version, got ${String(value)}`);
  return value;
}

/** A record of a response to a read of several locks, or the reason why it is none. */
export type Listed = { readonly found: Versioned | undefined } | { readonly error: unknown };

/**
 * Validates the response to a read of several locks. One that is no record fails for its own lock alone.
 *
 * @throws TypeError if `value` is not one for each lock, or none is a record with its version, or undefined
 */
export function requireListed(
  value: readonly (Versioned | undefined)[],
  locks: number,
): readonly Listed[] {
  if (!Array.isArray(value) || value.length !== locks)
    throw new TypeError(
      `lock.list() must resolve to an array of ${locks}, one for each lock, got ${Array.isArray(value) ? `one of ${value.length}` : String(value)}`,
    );
  const listed = value.map((found: Versioned | undefined): Listed => {
    try {
      return { found: found === undefined ? found : requireVersioned("lock.list()", found) };
    } catch (error) {
      return { error };
    }
  });
  const [first] = listed;
  if (first !== undefined && "error" in first && listed.every((one) => "error" in one))
    throw first.error;
  return listed;
}

/**
 * Validates the response to a write. A lock that resolves a conflict with the record it found would
 * make two leaders.
 *
 * @throws TypeError if `value` is not `record` with its version, or has the version that it replaced
 */
export function requireWritten(
  call: string,
  value: Versioned,
  record: LeaseRecord,
  replaced: string | undefined,
): Versioned {
  const { version, record: found } = requireVersioned(call, value);
  const { holder, transitions } = found;
  const isWritten = holder === record.holder && transitions === record.transitions;
  if (isWritten && version !== replaced) return value;
  const got = JSON.stringify({ holder, transitions, version });
  throw new TypeError(
    `${call} must resolve to the record it has written, with a new version, got ${got}`,
  );
}
