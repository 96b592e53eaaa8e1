import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { requireShapeOptions } from "../delay/shape-options.ts";
import type { GrowthOptions } from "./growth-options.ts";

/**
 * Delays with a fixed half and a random half: spread out, but never close to 0.
 *
 * With `b = min(cap, duration × factor^n)`, delay number `n`, from 0, is uniform in `b / 2` to `b`, the
 * end excluded, in whole nanoseconds. A {@link Backoff} with `jitter: "equal"` and the same factor has
 * the same delays.
 *
 * Source: "Equal Jitter" of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @example
 * ```ts
 * import { EqualJitterBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of Math.random
 * const next = new EqualJitterBackoff({ duration: 100, cap: 1_000, random }).delayFunc();
 * console.log(next(), next(), next(), next(), next()); // => 75 150 300 600 750
 * ```
 */
export class EqualJitterBackoff implements BackoffStrategy {
  readonly #delays: BackoffStrategy;

  /**
   * @param options - see {@link GrowthOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: GrowthOptions) {
    requireShapeOptions("options", options);
    const { duration, factor = 2, steps, cap, random } = options;
    this.#delays = new Backoff({ duration, factor, steps, cap, random, jitter: "equal" });
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return this.#delays.delayFunc();
  }
}
