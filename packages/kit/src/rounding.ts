const NANOSECONDS = 1e6;
const LARGEST_EXACT = Number.MAX_SAFE_INTEGER / NANOSECONDS;

/**
 * Rounds milliseconds to the nearest nanosecond, so that ten steps of 0.1 ms end where one of 1 ms
 * does. Beyond 104 days from the origin, doubles are coarser than a nanosecond.
 */
export function roundToNanosecond(instant: number): number {
  return Math.abs(instant) < LARGEST_EXACT
    ? Math.round(instant * NANOSECONDS) / NANOSECONDS
    : instant;
}

/**
 * The instant at which a duration of at least 0 ends, to the nanosecond. A duration above 0 always ends
 * after `now`, so repeated short waits terminate.
 */
export function instantAfter(now: number, duration: number): number {
  const instant = roundToNanosecond(now + duration);
  if (duration === 0 || instant > now) return instant;
  // Beyond 104 days a nanosecond is less than the distance between two doubles.
  return Math.max(roundToNanosecond(now + 1 / NANOSECONDS), now * (1 + Number.EPSILON));
}
