/**
 * The longest delay, 2^63 ns, which is about 292 years: as far as Go's durations reach. What would
 * be longer stays here. Go wraps around to a negative delay instead, which turns its loops hot.
 */
export const LONGEST_NANOSECONDS: number = 2 ** 63;

const NANOSECONDS_PER_MILLISECOND: number = 1e6;

/** Whole nanoseconds: the unit in which Go computes, and so must whoever wants its numbers. */
export function toNanoseconds(milliseconds: number): number {
  return Math.min(Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND), LONGEST_NANOSECONDS);
}

/** The same, but not more than the milliseconds, for a limit that holds to the last digit. */
export function toNanosecondsWithin(milliseconds: number): number {
  const nearest = toNanoseconds(milliseconds);
  // As far as the double before at least: above 2^53 that is more than 1 away.
  const step = nearest * 2 ** -52;
  return toMilliseconds(nearest) > milliseconds ? Math.floor(nearest - step) : nearest;
}

export function toMilliseconds(nanoseconds: number): number {
  return nanoseconds / NANOSECONDS_PER_MILLISECOND;
}
