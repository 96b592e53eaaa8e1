import { requireOptions } from "@holdfast/clock/internal";
import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import type { GrowthOptions } from "./growth-options.ts";

/**
 * Delays drawn from 0 up to a bound that grows: the most even spread, and the least work for a
 * server that many clients come back to.
 *
 * Delay number `n`, counted from 0, is evenly spread over 0 to `min(cap, duration × factor^n)`, the
 * end excluded, in whole nanoseconds. A delay can be next to nothing, at any time; where that
 * hurts, take {@link EqualJitterBackoff}.
 *
 * Source: "Full Jitter" of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @example
 * ```ts
 * import { FullJitterBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of what Math.random draws
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
    requireOptions("options", options);
    const { duration, factor = 2, steps, cap, random } = options;
    this.#delays = new Backoff({ duration, factor, steps, cap, random, jitter: "full" });
  }

  /**
   * A fresh sequence of delays from the first on.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return this.#delays.delayFunc();
  }
}
