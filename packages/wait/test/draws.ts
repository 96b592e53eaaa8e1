import type { Random } from "@holdfast/wait";

/** The largest number below 1: the maximum of a random source. */
export const ALMOST_ONE = 1 - 2 ** -53;

/** A random source that repeats these numbers. */
export function draws(...numbers: readonly number[]): Random {
  let index = 0;
  return () => numbers[index++ % numbers.length] as number;
}
