/**
 * Who leads, as it stands in a lock.
 *
 * The instants are for people: they come from other machines, and no elector compares them with its
 * own clock.
 *
 * Source: `LeaderElectionRecord` of k8s.io/client-go/tools/leaderelection/resourcelock.
 */
export interface LeaseRecord {
  /** The identity of the leader; empty if nobody leads. */
  readonly holder: string;

  /** How long others wait after they first saw this record, in milliseconds. */
  readonly leaseDuration: number;

  /** When the holder became leader: milliseconds since the epoch, on the holder's clock. */
  readonly acquiredAt: number;

  /** When the record was written: milliseconds since the epoch, on the writer's clock. */
  readonly renewedAt: number;

  /** Counts the terms; the fencing token of the current one. Never goes down. */
  readonly transitions: number;
}
