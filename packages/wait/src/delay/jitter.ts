import { requireAtLeast, requireFunction } from "@holdfast/kit";
import { LONGEST_NANOSECONDS, toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";

/**
 * Adds a random share to a delay, so that many callers do not return at the same moment.
 *
 * The result is uniform in `duration` to `duration × (1 + maxFactor)`, the end excluded, in whole
 * nanoseconds. A `maxFactor` of 0 adds nothing.
 *
 * @param duration - milliseconds, finite, at least 0
 * @param maxFactor - maximum share to add, finite, at least 0
 * @param random - source of randomness; by default `Math.random`
 * @returns milliseconds
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * Source: {@link Jitter} without its meaning of 0.
 *
 * @example
 * ```ts
 * import { jitter } from "@holdfast/wait";
 *
 * console.log(jitter(1_000, 0.5, () => 0.25)); // => 1125
 * ```
 */
export function jitter(
  duration: number,
  maxFactor: number,
  random: Random = defaultRandom,
): number {
  requireAtLeast("duration", duration, 0);
  requireAtLeast("maxFactor", maxFactor, 0);
  requireFunction("random", random);
  return toMilliseconds(spread(toNanoseconds(duration), maxFactor, random, LONGEST_NANOSECONDS));
}

/**
 * {@link jitter} as in Go: a `maxFactor` of 0 means 1, so the delay may double.
 *
 * @param duration - milliseconds, finite, at least 0
 * @param maxFactor - maximum share to add, finite, at least 0; 0 means 1
 * @param random - source of randomness; by default `Math.random`
 * @returns milliseconds
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * Source: `Jitter` of k8s.io/apimachinery/pkg/util/wait. Unlike in Go, a negative `maxFactor` is an
 * error, and the sum never wraps around: its maximum is 2^63 ns.
 *
 * @example
 * ```ts
 * import { Jitter, jitter } from "@holdfast/wait";
 *
 * console.log(Jitter(1_000, 0, () => 0.25), jitter(1_000, 0, () => 0.25)); // => 1250 1000
 * ```
 */
export function Jitter(duration: number, maxFactor: number, random?: Random): number {
  return jitter(duration, maxFactor === 0 ? 1 : maxFactor, random);
}

/** A delay with jitter, at most `max`. The order of the factors decides the last nanosecond; it is Go's. */
export function spread(
  nanoseconds: number,
  maxFactor: number,
  random: Random,
  max: number,
): number {
  const extra = Math.floor(random() * maxFactor * nanoseconds);
  return Math.min(nanoseconds + extra, max);
}
