import { requireWhole } from "@holdfast/clock/internal";

/**
 * How many slots a station waits on average after its `collisions`-th collision in a row, in binary
 * exponential back-off.
 *
 * The number is drawn from 0, 1, … 2^c - 1, so that the mean is `E(c) = (2^c - 1) / 2`. It is that
 * of one wait; what was waited after the collisions before comes on top.
 *
 * @param collisions - how many in a row, a whole number of at least 0
 * @param backoffLimit - after which collision the range no longer doubles, a whole number of at
 * least 0; by default `Infinity`, not truncated. Ethernet has 10
 * @returns slots, not milliseconds; a multiple of one half, or `Infinity` where a number holds no more
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * Source: the mean of the uniform draw in IEEE Std 802.3, clause 4.2.3.2.5.
 *
 * @example
 * ```ts
 * import { expectedSlots } from "@holdfast/wait/strategies";
 *
 * console.log(expectedSlots(1), expectedSlots(2), expectedSlots(3)); // => 0.5 1.5 3.5
 * console.log(expectedSlots(15, 10)); // => 511.5
 * ```
 */
export function expectedSlots(
  collisions: number,
  backoffLimit: number = Number.POSITIVE_INFINITY,
): number {
  requireWhole("collisions", collisions, 0);
  requireWhole("backoffLimit", backoffLimit, 0);
  return (2 ** Math.min(collisions, backoffLimit) - 1) / 2;
}
