/** One attempt of {@link retry}, or one call of {@link poll}. */
export interface Attempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;

  /**
   * Aborts when the result of this attempt is no longer needed. Pass it on to `fetch`, `clock.sleep`
   * and every other wait of the attempt.
   */
  readonly signal: AbortSignal;
}
