/** Where a page gets its data from. */
export interface StatusSource<Snapshot = unknown> {
  /** The state now: plain data, with the instant as `at`. */
  snapshot(): Snapshot;
  /** Calls `listener` after each change, until the subscription is disposed. */
  onChange(listener: () => void): Disposable;
}
