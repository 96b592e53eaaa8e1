/** What the work of a leader gets. */
export interface Leadership {
  /**
   * Larger than that of every term before, whoever led. Send it with each write to a store that
   * refuses smaller ones: that protects against a process that was paused and does not know that it
   * leads no more. The first is 0.
   */
  readonly token: number;

  /** Aborts when the term ends. Stop within the rest of the lease: then somebody else may lead. */
  readonly signal: AbortSignal;
}
