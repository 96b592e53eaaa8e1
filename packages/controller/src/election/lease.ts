import { type Clock, LinkedController } from "@holdfast/clock";
import { withTimeout } from "@holdfast/wait";
import { decideLease, type LeaseDecision, type Observation } from "./lease-decision.ts";
import type { LeaseRecord } from "./lease-record.ts";
import { isLockConflictError } from "./lock-conflict-error.ts";
import {
  type Listed,
  type ResourceLock,
  requireListed,
  requireVersioned,
  requireWritten,
  type Versioned,
} from "./resource-lock.ts";

/** Label of the timers. */
const LABEL = "request to the lock";

/** Options for a {@link Lease}. */
export interface LeaseOptions {
  readonly lock: ResourceLock;
  readonly identity: string;
  /** Duration that the written records state, in milliseconds. */
  readonly leaseDuration: number;
  /** Timeout of one request, in milliseconds. */
  readonly requestTimeout: number;
  readonly clock: Clock;
  /** Called when the holder of the latest record changes; undefined if the lease is free. */
  readonly onHolder: (holder: string | undefined) => void;
}

/** The right to lead. */
export interface Grant {
  readonly token: number;
  /** Monotonic instant before the write. Other processes count from a later one. */
  readonly since: number;
  /** The same instant on the wall clock. */
  readonly renewedAt: number;
}

/**
 * Milliseconds since the write of a grant. The monotonic clock of a suspended machine stands still, on Linux and macOS,
 * and the wall clock is right again after it wakes. A wall clock that was set forward counts as a suspension: that costs
 * a term. One that was set back does not count.
 */
export function elapsedSince(grant: Grant, clock: Clock): number {
  return Math.max(clock.monotonic() - grant.since, clock.now() - grant.renewedAt);
}

/** One elector's view of a lock: the latest record, and the requests that change it, one at a time. */
export class Lease {
  readonly #options: LeaseOptions;
  /** Content of the lock when it was last seen; undefined if it was empty. */
  #latest: Versioned | undefined;
  #seenVersion: string | undefined;
  #observed: Observation | undefined;
  #answeredAt: number | undefined;
  #acquiredAt = 0;
  /** Token of the latest own record that is in the lock, or may still reach it. */
  #claimed: number | undefined;
  /** Writes since the latest grant. Each that has no response, or the wrong one, may be carried out, also later. */
  #open: Grant[] = [];
  /** Token and version of the record of the latest grant. */
  #granted: { readonly token: number; readonly version: string | undefined } | undefined;
  /** Settles with the latest write, even if that was abandoned. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Holder of the latest record; undefined if the lease is free. */
  get holder(): string | undefined {
    return this.#observed?.record.holder || undefined;
  }

  /** Monotonic instant of the last response of the lock. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  /** Whether an own record is in the lock, or may be because a reply was lost. */
  get mayHold(): boolean {
    return this.#claimed !== undefined;
  }

  /** Monotonic instant at which the latest record was first seen. */
  get seenAt(): number | undefined {
    return this.#observed?.seenAt;
  }

  /** Whether a candidate could acquire the lease, by the latest record. */
  get isFree(): boolean {
    return this.#decide(undefined) === "acquire";
  }

  /**
   * Reads the records of leases with equal options in one request, and changes nothing.
   *
   * @param onError - receives the error of the request
   * @returns for each lease whether its record could be read, or the error; undefined if the locks cannot be read so,
   * or the request has failed
   */
  static async list(
    leases: readonly Lease[],
    { signal, onError }: { readonly signal: AbortSignal; readonly onError: (e: unknown) => void },
  ): Promise<readonly Listed[] | undefined> {
    const locks = leases.map((lease) => lease.#options.lock);
    const [lock] = locks.filter(canList);
    if (lock === undefined || locks.some(({ list }) => list !== lock.list)) return undefined;
    const [first] = leases as readonly [Lease, ...Lease[]]; // one of them can list
    let records: readonly (Versioned | undefined)[];
    try {
      records = await first.#request((bounded) => lock.list(locks, bounded), signal);
    } catch (error) {
      onError(error);
      return undefined;
    }
    const listed = requireListed(records, locks.length);
    for (const [at, lease] of leases.entries()) {
      const one = listed[at];
      if (one !== undefined && "found" in one) lease.#see(one.found);
    }
    return listed;
  }

  /** Reads the record, and changes nothing. */
  async read(signal: AbortSignal): Promise<void> {
    const found = await this.#request((bounded) => this.#options.lock.get(bounded), signal);
    this.#see(found === undefined ? found : requireVersioned("lock.get()", found));
  }

  /** Tries to become leader. Undefined if another process leads or was faster. */
  async acquire(signal: AbortSignal): Promise<Grant | undefined> {
    await this.read(signal);
    const landed = this.#landed;
    // A term that has been led does not begin again: tokens tell terms apart.
    if (landed !== undefined && landed.token !== this.#granted?.token) return this.#grant(landed);
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
   * Renews the own term. Reads the record only after a conflict. Undefined if another process holds the
   * lease.
   */
  async renew(token: number, signal: AbortSignal): Promise<Grant | undefined> {
    try {
      return await this.#claim(token, signal);
    } catch (error) {
      if (!isLockConflictError(error)) throw error;
    }
    await this.read(signal);
    if (this.#landed !== undefined) return this.#grant(this.#landed);
    if (this.#decide(token) === "stepDown") {
      this.#claimed = undefined;
      return undefined;
    }
    return await this.#claim(token, signal);
  }

  /** Releases the lease if it is still the own one. A record of another process is left alone. */
  async release(signal: AbortSignal): Promise<void> {
    const { clock, requestTimeout } = this.#options;
    const before = this.#latest?.version;
    await this.read(signal);
    if (this.#own === undefined && this.#latest?.version === before) {
      // An abandoned write may still replace this version.
      await withTimeout(() => this.#writing, requestTimeout, { signal, clock, label: LABEL });
      await this.read(signal);
    }
    const record = this.#own;
    if (record !== undefined)
      await this.#write({ ...record, holder: "", renewedAt: clock.now() }, signal);
    this.#claimed = undefined;
  }

  /** Record in the lock, if it belongs to the own term. */
  get #own(): LeaseRecord | undefined {
    const record = this.#latest?.record;
    const isOwn = record?.holder === this.#options.identity && record.transitions === this.#claimed;
    return isOwn ? record : undefined;
  }

  /** The write whose record is in the lock, if no grant came of it yet. */
  get #landed(): Grant | undefined {
    const record = this.#own;
    if (record === undefined || this.#latest?.version === this.#granted?.version) return undefined;
    // A lock may change the part below a millisecond.
    return this.#open.findLast(({ renewedAt }) => Math.abs(renewedAt - record.renewedAt) < 1);
  }

  #grant(grant: Grant): Grant {
    this.#granted = { token: grant.token, version: this.#latest?.version };
    this.#open = this.#open.filter(({ since }) => since > grant.since);
    return grant;
  }

  #decide(token: number | undefined): LeaseDecision {
    const { identity, clock } = this.#options;
    return decideLease({ identity, token, observed: this.#observed, now: clock.monotonic() });
  }

  async #claim(token: number | undefined, signal: AbortSignal): Promise<Grant> {
    const { identity, leaseDuration, clock } = this.#options;
    const renewedAt = clock.now();
    if (token === undefined) this.#acquiredAt = renewedAt;
    const record: LeaseRecord = {
      holder: identity,
      leaseDuration,
      acquiredAt: this.#acquiredAt,
      renewedAt,
      transitions: token ?? this.#nextToken(),
    };
    const since = clock.monotonic();
    const grant = { token: record.transitions, since, renewedAt };
    if (this.#claimed !== record.transitions) this.#open = [];
    this.#claimed = record.transitions;
    this.#open.push(grant);
    return this.#grant(await this.#writeAndSee(record, grant, signal));
  }

  /**
   * Writes an own record. A write may be carried out and its response lost, each time: after half of the request's
   * time, after three quarters, and after an error, the lock itself is asked for the record.
   *
   * @returns the grant, or that of an earlier write which was carried out meanwhile
   */
  async #writeAndSee(record: LeaseRecord, grant: Grant, signal: AbortSignal): Promise<Grant> {
    const { clock, requestTimeout } = this.#options;
    using seen = new LinkedController(signal);
    const look = async (): Promise<void> => {
      await this.read(signal);
      if (this.#landed === grant) seen.abort();
    };
    const ignore = (): void => {};
    const hedge = (): void => void look().catch(ignore);
    using _late = clock.afterFunc(requestTimeout / 2, hedge, { label: "late response" });
    using _later = clock.afterFunc(requestTimeout * 0.75, hedge, { label: "late response" });
    try {
      await this.#write(record, seen.signal);
      return grant;
    } catch (error) {
      if (isLockConflictError(error)) throw error;
      if (!seen.signal.aborted) await look().catch(ignore);
      const landed = this.#landed;
      if (signal.aborted || landed === undefined) throw error;
      return landed;
    }
  }

  #nextToken(): number {
    const before = this.#observed?.record;
    const next = before === undefined ? 0 : before.transitions + 1;
    return Math.max(next, this.#options.lock.firstToken ?? 0);
  }

  async #write(record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const { lock } = this.#options;
    const latest = this.#latest;
    const written = await this.#request((bounded) => {
      const writing =
        latest === undefined
          ? lock.create(record, bounded)
          : lock.update(record, latest.version, bounded);
      this.#writing = Promise.allSettled([writing]);
      return writing;
    }, signal);
    const call = latest === undefined ? "lock.create()" : "lock.update()";
    this.#see(requireWritten(call, written, record, latest?.version));
  }

  async #request<Value>(
    request: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const { clock, requestTimeout } = this.#options;
    // A fake clock goes on while a lock does real I/O.
    const message =
      "external" in clock
        ? `timed out after ${requestTimeout} ms; on a fake clock, wrap the I/O of the lock in clock.external()`
        : undefined;
    const value = await withTimeout(request, requestTimeout, {
      signal,
      clock,
      label: LABEL,
      message,
    });
    this.#answeredAt = clock.monotonic();
    return value;
  }

  /**
   * A record counts from the moment its version is first seen, which is after its write. A removed
   * record still counts: its holder may not know yet.
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

function canList(lock: ResourceLock): lock is ResourceLock & Required<Pick<ResourceLock, "list">> {
  return lock.list !== undefined;
}
