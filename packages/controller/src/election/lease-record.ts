/**
 * Record of a lease in a lock.
 *
 * The instants are informative. They come from the clocks of other machines, and no elector compares
 * them with its own.
 *
 * Source: `LeaderElectionRecord` of k8s.io/client-go/tools/leaderelection/resourcelock.
 */
export interface LeaseRecord {
  /** Identity of the leader; empty if the lease is free. */
  readonly holder: string;

  /** How long others respect this record after they first saw it, in milliseconds. */
  readonly leaseDuration: number;

  /** Start of the term: milliseconds since the epoch, on the holder's clock. */
  readonly acquiredAt: number;

  /** Time of the write: milliseconds since the epoch, on the writer's clock. */
  readonly renewedAt: number;

  /** Number of terms before this one, which is its fencing token. Never decreases. */
  readonly transitions: number;
}

/** Whether a value has the fields of a {@link LeaseRecord}. */
export function isLeaseRecord(value: unknown): value is LeaseRecord {
  const record = (value ?? {}) as Partial<LeaseRecord>;
  const numbers = [record.leaseDuration, record.acquiredAt, record.renewedAt, record.transitions];
  return typeof record.holder === "string" && numbers.every(Number.isFinite);
}
