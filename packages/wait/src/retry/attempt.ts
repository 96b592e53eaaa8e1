/** What a function that is tried again and again is told of one attempt. */
export interface Attempt {
  /** Counts the calls, from 1. */
  readonly attempt: number;

  /** Aborts when nobody waits for this attempt any more. Hand it to whatever the attempt waits for. */
  readonly signal: AbortSignal;
}
