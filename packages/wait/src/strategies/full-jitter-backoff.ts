import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { requireShapeOptions } from "../delay/shape-options.ts";
import type { GrowthOptions } from "./growth-options.ts";

/**
 * Delays drawn from 0 to a growing limit: the widest spread, and the lowest load on a server when many
 * clients return.
 *
 * Delay number `n`, from 0, is uniform in 0 to `min(cap, duration × factor^n)`, the end excluded, in
 * whole nanoseconds. Any delay can be close to 0; to avoid that, use {@link EqualJitterBackoff}. A
 * {@link Backoff} with `jitter: "full"` and the same factor has the same delays.
 *
 * Source: "Full Jitter" of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @example
 * ```ts
 * import { FullJitterBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of Math.random
 * const next = new FullJitterBackoff({ duration: 100, cap: 1_000, random }).delayFunc();
 * console.log(next(), next(), next(), next(), next()); // => 50 100 200 400 500
 * ```
 */
export class FullJitterBackoff implements BackoffStrategy {
  readonly #delays: BackoffStrategy;

  /**
   * @param options - see {@link GrowthOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: GrowthOptions) {
    requireShapeOptions("options", options);
    const { duration, factor = 2, steps, cap, random } = options;
    this.#delays = new Backoff({ duration, factor, steps, cap, random, jitter: "full" });
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
