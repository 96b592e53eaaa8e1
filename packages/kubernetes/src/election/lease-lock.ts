import { type Clock, findError, realClock } from "@holdfast/clock";
import {
  type LeaseRecord,
  LockConflictError,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";
import { type Kinds, loopClock, methods, positive, read, required } from "@holdfast/kit";
import { namespaceName, segment } from "@holdfast/kit/kubernetes";
import { ApiError, isNotFound, withRetryAfter } from "../client/api-error.ts";
import type { KubeCallOptions } from "../client/call-options.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { builtIn } from "../object/built-in.ts";
import type { StoredObject } from "../object/kube-object.ts";
import { type LeaseObject, newLease, recordOf, withRecord, writtenAt } from "./lease-object.ts";

export const LEASE_LOCK_OPTIONS: Kinds<LeaseLockOptions> = {
  client: required(methods("get", "list", "create", "update")),
  namespace: required(namespaceName),
  name: required(segment),
  leaseDuration: positive,
  clock: loopClock,
};

const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");

/** Options for a {@link LeaseLock}. */
export interface LeaseLockOptions {
  /** Client of the API server. */
  readonly client: Pick<KubeClient, "get" | "list" | "create" | "update">;

  /** Namespace of the Lease. */
  readonly namespace: string;

  /** Name of the Lease. */
  readonly name: string;

  /**
   * How long a holder that states no duration keeps the lease, in milliseconds. Above 0, finite. Keep it
   * equal to the elector's `leaseDuration`.
   *
   * @defaultValue `15_000`
   */
  readonly leaseDuration?: number | undefined;

  /**
   * Supplies the first token of a new Lease if the server's responses have no date.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * A lock in a Lease of Kubernetes, for a `LeaderElector`.
 *
 * | The server responds | The lock |
 * | --- | --- |
 * | `NotFound` to a read | has no record; the first token is the server's time in seconds |
 * | 409 to a write, or `NotFound` to an update | rejects with a `LockConflictError` |
 * | 429 or 503 that names a time | rejects with a `RetryAfterError`, whose cause is the `ApiError`: the elector waits at least that long |
 * | anything else but success, also a 404 without that reason | rejects with the `ApiError` |
 *
 * The token of a term is in the annotation `holdfast/token`. Tokens grow although the Lease is deleted, or its
 * annotation removed or edited, as long as there is at most one term a second. A token of 2^53 or above is refused. `leaseTransitions` counts terms as in client-go. Other fields,
 * labels and annotations of the Lease stay as they are. Electors of client-go on the same Lease are
 * understood; durations are written in whole seconds, rounded up.
 *
 * It needs the verbs `get`, `create` and `update` on `leases` in its namespace, and
 * uses `list` for `Shards`, which otherwise read each Lease by itself.
 *
 * @remarks
 * Source: `LeaseLock` of k8s.io/client-go/tools/leaderelection/resourcelock.
 *
 * @example
 * ```ts no-run
 * import { LeaderElector } from "@holdfast/controller";
 * import { inCluster, KubeClient, LeaseLock } from "@holdfast/kubernetes";
 *
 * const client = new KubeClient({ transport: inCluster() });
 * const elector = new LeaderElector({
 *   lock: new LeaseLock({ client, namespace: "jobs", name: "janitor" }),
 *   identity: process.env["HOSTNAME"] ?? "janitor",
 *   lead: async ({ token, signal }) => console.log("leads with token", token, signal.aborted),
 * });
 * await elector.run(new AbortController().signal);
 * ```
 */
export class LeaseLock implements ResourceLock {
  /** Kind and place of the lock, for logs and errors. */
  readonly description: string;
  readonly #client: LeaseLockOptions["client"];
  readonly #name: { readonly namespace: string; readonly name: string };
  readonly #leaseDuration: number;
  readonly #clock: Clock;
  #latest: StoredObject<LeaseObject> | undefined;
  /** The largest token seen. */
  #highest = -1;
  /** Seconds. */
  #serverTime = 0;

  /**
   * @param options - see {@link LeaseLockOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: LeaseLockOptions) {
    const given = read("options", options, "LeaseLock", LEASE_LOCK_OPTIONS);
    const { client, namespace, name, leaseDuration = 15_000, clock = realClock } = given;
    this.#client = client;
    this.#name = { namespace, name };
    this.#leaseDuration = leaseDuration;
    this.#clock = clock;
    this.description = `Lease ${namespace}/${name}`;
  }

  /**
   * Smallest token of the next term: above every token that this lock has seen, and not below the server's time in
   * seconds at the last write of the Lease, or at the last `get` without one.
   */
  get firstToken(): number {
    return Math.max(this.#highest + 1, this.#serverTime);
  }

  /**
   * Reads the record of the Lease.
   *
   * @param signal - aborts the request
   */
  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    signal.throwIfAborted();
    try {
      return this.#see(await this.#client.get(Lease, this.#name, once(signal)));
    } catch (error) {
      if (!isNotFound(error)) throw withRetryAfter(error);
      this.#serverTime = Math.floor(
        (findError(error, ApiError)?.date ?? this.#clock.now()) / 1_000,
      );
      return undefined;
    }
  }

  /**
   * Reads the records of several Leases by one list of their namespace. Without the verb `list` it reads each by `get`.
   *
   * @param locks - locks on Leases of this client and namespace
   * @param signal - aborts the request
   * @returns for each lock its record; undefined if there is no Lease
   * @throws TypeError if a lock is in another namespace, or no `LeaseLock`
   */
  async list(
    locks: readonly ResourceLock[],
    signal: AbortSignal,
  ): Promise<readonly (Versioned | undefined)[]> {
    signal.throwIfAborted();
    const { namespace } = this.#name;
    const beside = locks.map((lock) => this.#beside(lock));
    const leases = new Map<string, StoredObject<LeaseObject>>();
    try {
      for await (const lease of this.#client.list(Lease, { namespace, ...once(signal) }))
        leases.set(lease.metadata.name, lease);
    } catch (error) {
      if (findError(error, ApiError)?.status !== 403) throw withRetryAfter(error);
      return await Promise.all(beside.map((lock) => lock.get(signal)));
    }
    return beside.map((lock) => {
      const lease = leases.get(lock.#name.name);
      return lease === undefined ? undefined : lock.#see(lease);
    });
  }

  #beside(lock: ResourceLock): LeaseLock {
    const isBeside =
      lock instanceof LeaseLock &&
      lock.#client === this.#client &&
      lock.#name.namespace === this.#name.namespace;
    if (isBeside) return lock;
    throw new TypeError(
      `locks must be Leases of one client in namespace ${this.#name.namespace}, got ${lock.description}`,
    );
  }

  /**
   * Creates the Lease.
   *
   * @param record - the new record
   * @param signal - aborts the request
   * @returns the record. Rejects with a `LockConflictError` if there is a Lease
   */
  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const lease = newLease(record, this.#name);
    return await this.#write(isTaken, signal, () =>
      this.#client.create(Lease, lease, once(signal)),
    );
  }

  /**
   * Replaces the record of the Lease.
   *
   * @param record - the new record
   * @param version - version of the record to replace
   * @param signal - aborts the request
   * @returns the record. Rejects with a `LockConflictError` if the Lease has another version, or is gone
   */
  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    signal.throwIfAborted();
    // The fields of others come from the version that is replaced.
    if (this.#latest?.metadata.resourceVersion !== version) await this.get(signal);
    const latest = this.#latest;
    if (latest?.metadata.resourceVersion !== version) throw new LockConflictError(this.description);
    const lease = withRecord(latest, record);
    const isLost = (error: unknown): boolean => isTaken(error) || isNotFound(error);
    return await this.#write(isLost, signal, () => this.#client.update(Lease, lease, once(signal)));
  }

  async #write(
    isConflict: (error: unknown) => boolean,
    signal: AbortSignal,
    request: () => Promise<StoredObject<LeaseObject>>,
  ): Promise<Versioned> {
    signal.throwIfAborted();
    try {
      return this.#see(await request());
    } catch (error) {
      if (!isConflict(error)) throw withRetryAfter(error);
      throw new LockConflictError(this.description);
    }
  }

  #see(lease: StoredObject<LeaseObject>): Versioned {
    this.#latest = lease;
    const version = lease.metadata.resourceVersion;
    const record = recordOf(lease, this.#leaseDuration);
    this.#highest = Math.max(this.#highest, record.transitions);
    this.#serverTime = Math.max(this.#serverTime, writtenAt(lease) + 1);
    return { record, version };
  }
}

/** The elector repeats: no request is sent again before its period, or before the time that the server names. */
function once(signal: AbortSignal): KubeCallOptions {
  return { signal, retries: 0 };
}

/** Whether another process has written first. */
function isTaken(error: unknown): boolean {
  return findError(error, ApiError)?.status === 409;
}
