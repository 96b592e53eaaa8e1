import type { LeaseRecord } from "./lease-record.ts";

/** A record, and which of its versions it is. */
export interface Versioned {
  /** What was read or written. */
  readonly record: LeaseRecord;

  /** Another one after each write, whoever wrote, and never one of before. */
  readonly version: string;
}

/**
 * Where electors meet: one record that is replaced only by who knows its latest version.
 *
 * | Call | Resolves to | Rejects with a {@link LockConflictError} if |
 * | --- | --- | --- |
 * | `get` | the record; undefined if there is none | |
 * | `create` | what it wrote | there is a record |
 * | `update` | what it wrote | the record has another version |
 *
 * Every other rejection means that the write may have happened or not. A request should give up when
 * its signal aborts. One that does not is left alone: an elector waits no longer for it, and what it
 * writes late meets a version that is no more. Only who is stopped while it becomes leader waits for
 * its write, up to the renew deadline, to give back what that may bring.
 *
 * Source: `Interface` of k8s.io/client-go/tools/leaderelection/resourcelock.
 *
 * @example
 * ```ts
 * import { isLockConflictError, type LeaseRecord, MemoryLock, type ResourceLock } from "@holdfast/controller";
 *
 * // Makes somebody lead at once, for as long as nobody renews.
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
   * @param signal - ends the request
   */
  get(signal: AbortSignal): Promise<Versioned | undefined>;

  /**
   * Writes the first record.
   *
   * @param record - what to write
   * @param signal - ends the request
   */
  create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned>;

  /**
   * Replaces the record, if nobody else did.
   *
   * @param record - what to write
   * @param version - of the record that it replaces
   * @param signal - ends the request
   */
  update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned>;

  /** What and where the lock is, for logs. */
  readonly description: string;
}
