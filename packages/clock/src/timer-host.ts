/** What timers run on: somebody else's `setTimeout`. */
export interface TimerHost {
  /** The longest delay that {@link TimerHost.set} understands, in milliseconds. */
  readonly longest: number;
  /**
   * Whether a timer that never fires is booked all the same: a real one keeps the process alive, a
   * virtual one would be woken for ever.
   */
  readonly booksForever: boolean;
  monotonic(): number;
  /** Calls `wake` after about `delay`; hosts may be up to 1 ms early. */
  set(wake: () => void, delay: number, ref: boolean): unknown;
  clear(handle: unknown): void;
}

/**
 * libuv counts whole milliseconds, so a timer may wake up to 1 ms early (nodejs/node#26578). One
 * correction of 1 ms ends at the next tick of that counter, a second one a whole tick later.
 * The bound matters where `setTimeout` is faked and `performance` is not: there the deadline never
 * comes, and a timer that insisted on it would never fire.
 */
export const MOST_CORRECTIONS = 3;
