import type { Random } from "@holdfast/wait";

/** The largest number below 1: the most that a source of chance can give. */
export const ALMOST_ONE = 1 - 2 ** -53;

/** A source of chance that gives these numbers, over and over. */
export function draws(...numbers: readonly number[]): Random {
  let index = 0;
  return () => numbers[index++ % numbers.length] as number;
}
