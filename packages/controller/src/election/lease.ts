import type { Clock } from "@holdfast/clock";
import { withTimeout } from "@holdfast/wait";
import { decideLease, type LeaseDecision, type Observation } from "./lease-decision.ts";
import type { LeaseRecord } from "./lease-record.ts";
import { isLockConflictError } from "./lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "./resource-lock.ts";

/** The label of the timers. */
const LABEL = "request to the lock";

/** What one elector's requests depend on. */
export interface LeaseOptions {
  readonly lock: ResourceLock;
  readonly identity: string;
  /** Milliseconds; stands in the records that are written. */
  readonly leaseDuration: number;
  /** How long one request may take, in milliseconds. */
  readonly requestTimeout: number;
  readonly clock: Clock;
  /** Called when the holder of the latest record is another one; undefined if nobody holds it. */
  readonly onHolder: (holder: string | undefined) => void;
}

/** The right to lead. */
export interface Grant {
  readonly token: number;
  /** The monotonic instant before the write; the others count from a later one. */
  readonly since: number;
}

/** One elector's view of a lock: what it saw last, and the requests that change it. One at a time. */
export class Lease {
  readonly #options: LeaseOptions;
  /** What stands in the lock; undefined if nothing does. */
  #latest: Versioned | undefined;
  #seenVersion: string | undefined;
  #observed: Observation | undefined;
  #answeredAt: number | undefined;
  #acquiredAt = 0;
  /** The token of the latest own record that stands in the lock, or may come to stand there. */
  #claimed: number | undefined;
  /** Settles when the latest write has, whether or not anybody still waits for it. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The holder of the latest record. */
  get holder(): string | undefined {
    return this.#observed?.record.holder || undefined;
  }

  /** When the lock last answered, on the monotonic clock. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  /** Whether an own record stands in the lock, or may come to stand there by a reply that was lost. */
  get mayHold(): boolean {
    return this.#claimed !== undefined;
  }

  /** Tries to become leader. Undefined if somebody else leads, or was faster. */
  async acquire(signal: AbortSignal): Promise<Grant | undefined> {
    await this.#read(signal);
    if (this.#decide(undefined) === "wait") {
      this.#claimed = undefined;
      return undefined;
    }
    try {
      return await this.#claim(undefined, signal);
    } catch (error) {
      if (isLockConflictError(error)) return undefined;
      throw error;
    }
  }

  /**
   * Renews the own term: without a look at the record if nobody else has written it. Undefined if
   * somebody else holds the lease.
   */
  async renew(token: number, signal: AbortSignal): Promise<Grant | undefined> {
    try {
      return await this.#claim(token, signal);
    } catch (error) {
      if (!isLockConflictError(error)) throw error;
    }
    await this.#read(signal);
    if (this.#decide(token) === "stepDown") {
      this.#claimed = undefined;
      return undefined;
    }
    return await this.#claim(token, signal);
  }

  /** Gives the lease back, if it is still the own one: what somebody else wrote is left alone. */
  async release(signal: AbortSignal): Promise<void> {
    const { clock, requestTimeout } = this.#options;
    const before = this.#latest?.version;
    await this.#read(signal);
    if (this.#own === undefined && this.#latest?.version === before) {
      // A write that nobody waits for any more may still replace this version.
      await withTimeout(() => this.#writing, requestTimeout, { signal, clock, label: LABEL });
      await this.#read(signal);
    }
    const record = this.#own;
    if (record !== undefined)
      await this.#write({ ...record, holder: "", renewedAt: clock.now() }, signal);
    this.#claimed = undefined;
  }

  /** The record in the lock, if it is of the own term. */
  get #own(): LeaseRecord | undefined {
    const record = this.#latest?.record;
    const isOwn = record?.holder === this.#options.identity && record.transitions === this.#claimed;
    return isOwn ? record : undefined;
  }

  #decide(token: number | undefined): LeaseDecision {
    const { identity, clock } = this.#options;
    return decideLease({ identity, token, observed: this.#observed, now: clock.monotonic() });
  }

  async #claim(token: number | undefined, signal: AbortSignal): Promise<Grant> {
    const { identity, leaseDuration, clock } = this.#options;
    const before = this.#observed?.record;
    const renewedAt = clock.now();
    if (token === undefined) this.#acquiredAt = renewedAt;
    const record: LeaseRecord = {
      holder: identity,
      leaseDuration,
      acquiredAt: this.#acquiredAt,
      renewedAt,
      transitions: token ?? (before === undefined ? 0 : before.transitions + 1),
    };
    const since = clock.monotonic();
    this.#claimed = record.transitions;
    await this.#write(record, signal);
    return { token: record.transitions, since };
  }

  async #read(signal: AbortSignal): Promise<void> {
    this.#see(await this.#request((bounded) => this.#options.lock.get(bounded), signal));
  }

  async #write(record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const { lock } = this.#options;
    const latest = this.#latest;
    this.#see(
      await this.#request((bounded) => {
        const written =
          latest === undefined
            ? lock.create(record, bounded)
            : lock.update(record, latest.version, bounded);
        this.#writing = Promise.allSettled([written]);
        return written;
      }, signal),
    );
  }

  async #request<Value>(
    request: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const { clock, requestTimeout } = this.#options;
    const value = await withTimeout(request, requestTimeout, { signal, clock, label: LABEL });
    this.#answeredAt = clock.monotonic();
    return value;
  }

  /**
   * A record counts from the moment its version is first seen, which is after it was written. One
   * that is gone still counts: who held it may not know yet.
   */
  #see(latest: Versioned | undefined): void {
    const before = this.holder;
    this.#latest = latest;
    if (latest === undefined || latest.version === this.#seenVersion) return;
    this.#seenVersion = latest.version;
    this.#observed = { record: latest.record, seenAt: this.#options.clock.monotonic() };
    if (this.holder !== before) this.#options.onHolder(this.holder);
  }
}
