const NANOSECONDS = 1e6;
const LARGEST_EXACT = Number.MAX_SAFE_INTEGER / NANOSECONDS;

/**
 * Rounds milliseconds to the nearest whole nanosecond, so that ten steps of 0.1 ms end where one of 1 ms
 * does. Beyond 104 days from the origin a double is coarser than that anyway.
 */
export function roundToNanosecond(instant: number): number {
  return Math.abs(instant) < LARGEST_EXACT
    ? Math.round(instant * NANOSECONDS) / NANOSECONDS
    : instant;
}

/**
 * The instant at which a duration of at least 0 ends, to the nanosecond. One above 0 ends after `now`, so
 * repeated short waits for a remainder terminate.
 */
export function instantAfter(now: number, duration: number): number {
  const instant = roundToNanosecond(now + duration);
  if (duration === 0 || instant > now) return instant;
  // Beyond 104 days a nanosecond is less than the distance of two doubles.
  return Math.max(roundToNanosecond(now + 1 / NANOSECONDS), now * (1 + Number.EPSILON));
}
