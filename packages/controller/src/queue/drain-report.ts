/** A key that was delayed when its queue was shut down. */
export interface DelayedKey<Item> {
  /** The key. */
  readonly key: string;
  /** The latest item that was added with this key. */
  readonly item: Item;
  /** The rest of its delay, in milliseconds: pass it to `add` of another queue. */
  readonly after: number;
}

/** The keys that a drained {@link WorkQueue} had left. */
export interface DrainReport<Item> {
  /** Whether every key that was queued or in flight is done. */
  readonly finished: boolean;
  /** The keys still in flight. Empty if `finished`. */
  readonly running: readonly string[];
  /**
   * The keys still queued, in their order, then those added again while in flight. Empty if
   * `finished`.
   */
  readonly queued: readonly string[];
  /** The delayed keys, the earliest first. They are never queued. */
  readonly delayed: readonly DelayedKey<Item>[];
}
