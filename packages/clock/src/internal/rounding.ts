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
