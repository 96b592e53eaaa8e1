/**
 * Maximum delay, 2^63 ns or about 292 years: the range of Go's durations. Longer delays become this
 * one. Go wraps around to a negative delay instead, and its loops run without a delay.
 */
export const LONGEST_NANOSECONDS: number = 2 ** 63;

const NANOSECONDS_PER_MILLISECOND: number = 1e6;

/** Whole nanoseconds: Go computes in this unit, so equal results need it. */
export function toNanoseconds(milliseconds: number): number {
  return Math.min(Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND), LONGEST_NANOSECONDS);
}

/** As {@link toNanoseconds}, but rounded down where rounding up would exceed the milliseconds. */
export function toNanosecondsWithin(milliseconds: number): number {
  const nearest = toNanoseconds(milliseconds);
  // At least to the previous double: above 2^53 that is more than 1 away.
  const step = nearest * 2 ** -52;
  return toMilliseconds(nearest) > milliseconds ? Math.floor(nearest - step) : nearest;
}

export function toMilliseconds(nanoseconds: number): number {
  return nanoseconds / NANOSECONDS_PER_MILLISECOND;
}
