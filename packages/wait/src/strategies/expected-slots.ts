import { requireWhole } from "@holdfast/kit";

/**
 * Mean delay of binary exponential backoff, in slots, after a number of collisions in a row.
 *
 * The delay is drawn from 0, 1, … 2^c - 1, so its mean is `E(c) = (2^c - 1) / 2`. It is the mean of
 * one delay, not the sum of all delays so far.
 *
 * @param collisions - number of collisions in a row: a whole number, at least 0
 * @param backoffLimit - number of the collision after which the range no longer doubles: a whole
 * number, at least 0; by default `Infinity`. Ethernet has 10
 * @returns slots, not milliseconds: a multiple of one half, or `Infinity` on overflow
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
