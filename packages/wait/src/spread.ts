import type { Random } from "./random.ts";

/** The order of the factors decides the last nanosecond; it is Go's. */
export function spread(
  nanoseconds: number,
  maxFactor: number,
  random: Random,
  most: number,
): number {
  const extra = Math.floor(random() * maxFactor * nanoseconds);
  return Math.min(nanoseconds + extra, most);
}
