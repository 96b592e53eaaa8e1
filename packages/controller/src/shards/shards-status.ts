/** A lock of `Shards` whose latest request failed. */
export interface FailingLock {
  /** Its name, as `lockOf` gets it: `"slot-3"`, `"wish-3"` or `"count"`. */
  readonly lock: string;
  /** The error of the request. */
  readonly error: unknown;
}

/** State of `Shards` for a health endpoint, as plain data. */
export interface ShardsStatus {
  /** Identity of this process. */
  readonly identity: string;
  /** Number of slots. */
  readonly count: number;
  /** Slots that this process works on, also while it gives them up. */
  readonly held: readonly number[];
  /** Slots of `held` that it gives up. */
  readonly giving: readonly number[];
  /** Slots of `giving` whose work has ignored its signal for a lease. They no longer hold up the others. */
  readonly stuck: readonly number[];
  /** The slot that it has asked another process for. */
  readonly wanted: number | undefined;
  /** Slots without a holder, as last seen. */
  readonly free: readonly number[];
  /** Who holds each slot, as last seen. */
  readonly holders: readonly (string | undefined)[];
  /** Number of slots that it has taken so far. */
  readonly taken: number;
  /** Time since the last look at all slots, in milliseconds; undefined before the first. */
  readonly sinceAnswer: number | undefined;
  /**
   * How long the work of a slot has outlived its lease, in milliseconds; 0 while all leases are held. Another process may
   * work on the slot. If this grows, restart the process: the work ignores `lost`.
   */
  readonly overdue: number;
  /** Locks whose latest request failed. Slots without one of these go on. */
  readonly failing: readonly FailingLock[];
  /** Error of the latest request to a lock, or of a failing one; undefined if all succeed. */
  readonly lastError: unknown;
}
