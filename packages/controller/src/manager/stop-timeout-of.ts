/** Time reserved for a group without its own timeout while earlier groups stop, in milliseconds. */
const KEPT = 1_000;

/** Facts about the group that stops next. Durations are in milliseconds. */
export interface StopFacts {
  /** Time for all groups together. */
  readonly total: number;
  /** Time since the abort of the first group. */
  readonly elapsed: number;
  /** Own time of the group; undefined for a share of the total. */
  readonly own: number | undefined;
  /** Own times of the groups that stop later. */
  readonly later: readonly (number | undefined)[];
}

/**
 * How long a group may take to stop: its own time, or the rest of the total that is not reserved for
 * the groups that stop later.
 */
export function stopTimeoutOf({ total, elapsed, own, later }: StopFacts): number {
  if (own !== undefined) return own;
  if (total === Number.POSITIVE_INFINITY) return total;
  const claimed = later.reduce<number>((sum, timeout) => sum + (timeout ?? 0), 0);
  const free = Math.max(0, total - elapsed - claimed);
  const sharers = later.filter((timeout) => timeout === undefined).length;
  return free - sharers * Math.min(KEPT, free / (sharers + 1));
}
