import type { LeaseRecord } from "./lease-record.ts";
import { LockConflictError } from "./lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "./resource-lock.ts";

/**
 * A lock between the electors of one process, for tests and for programs with one replica.
 *
 * @example
 * ```ts
 * import { MemoryLock } from "@holdfast/controller";
 *
 * const lock = new MemoryLock();
 * const { signal } = new AbortController();
 * console.log(await lock.get(signal)); // => undefined
 * const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 0, renewedAt: 0, transitions: 0 };
 * await lock.create(record, signal);
 * console.log((await lock.get(signal))?.record.holder); // => a
 * ```
 */
export class MemoryLock implements ResourceLock {
  readonly description = "memory";
  #latest: Versioned | undefined;
  #writes = 0;

  /** {@inheritDoc ResourceLock.get} */
  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    signal.throwIfAborted();
    return this.#latest;
  }

  /** {@inheritDoc ResourceLock.create} */
  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    return this.#replace(undefined, record, signal);
  }

  /** {@inheritDoc ResourceLock.update} */
  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    return this.#replace(version, record, signal);
  }

  #replace(version: string | undefined, record: LeaseRecord, signal: AbortSignal): Versioned {
    signal.throwIfAborted();
    if (this.#latest?.version !== version) throw new LockConflictError(this.description);
    this.#latest = { record: { ...record }, version: `${++this.#writes}` };
    return this.#latest;
  }
}
