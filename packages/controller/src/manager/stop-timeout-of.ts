/** Time reserved for a group without a time of its own while earlier groups stop, in milliseconds. */
const KEPT = 1_000;

/** Times of a group, in milliseconds. */
export interface StopTimes {
  /** Its option `stopTimeout`, which it gets in full; undefined if there is none. */
  readonly fixed: number | undefined;
  /** The longest time that one of its runnables asks for; undefined if none does. */
  readonly wish: number | undefined;
}

/** Facts about the group that stops next. Durations are in milliseconds. */
export interface StopFacts {
  /** Time for all groups together. */
  readonly total: number;
  /** Time since the abort of the first group. */
  readonly elapsed: number;
  /** Times of the group. */
  readonly own: StopTimes;
  /** Times of the groups that stop later. */
  readonly later: readonly StopTimes[];
}

/**
 * How long a group may take to stop. All groups together never take longer than `total`.
 *
 * | The group | Its time |
 * | --- | --- |
 * | has an option `stopTimeout` | that |
 * | has a runnable with a `stopTimeout` | that, if those of the later groups fit too; otherwise all shrink by the same factor |
 * | has neither | the rest that is not reserved for the groups that stop later |
 */
export function stopTimeoutOf({ total, elapsed, own, later }: StopFacts): number {
  if (own.fixed !== undefined) return own.fixed;
  if (total === Number.POSITIVE_INFINITY) return own.wish ?? total;
  const claimed = later.reduce((sum, { fixed = 0 }) => sum + fixed, 0);
  const free = Math.max(0, total - elapsed - claimed);
  // A wish that has no end is as long as all the time there is.
  const wishOf = ({ fixed, wish = KEPT }: StopTimes): number =>
    fixed === undefined ? Math.min(wish, total) : 0;
  const reserved = later.reduce((sum, times) => sum + wishOf(times), 0);
  const wanted = wishOf(own) + reserved;
  const factor = wanted > free ? free / wanted : 1;
  return Math.floor(own.wish === undefined ? free - factor * reserved : factor * wishOf(own));
}
