/** A key that waited for its time when its queue was shut down. */
export interface DelayedKey<Item> {
  /** What the item is known by. */
  readonly key: string;
  /** The latest item of that key. */
  readonly item: Item;
  /** How much longer it would have waited, in milliseconds; what to add it with elsewhere. */
  readonly after: number;
}

/** What became of the keys of a {@link WorkQueue} that was drained. */
export interface DrainReport<Item> {
  /** Whether everything that was queued or in flight is done. */
  readonly finished: boolean;
  /** The keys that are still in flight. Empty if `finished`. */
  readonly running: readonly string[];
  /** The keys that nobody took, or that have to run again. Empty if `finished`. */
  readonly queued: readonly string[];
  /** The keys that waited for their time, which does not come any more; the earliest first. */
  readonly delayed: readonly DelayedKey<Item>[];
}
