import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import type { JitterForm } from "../delay/capped-jitter.ts";
import type { Random } from "../delay/random.ts";
import { requireShapeOptions } from "../delay/shape-options.ts";

/** Options for {@link ConstantBackoff}. */
export interface ConstantBackoffOptions {
  /** Delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * Randomness of a delay: the maximum share to add, `"full"` or `"equal"`; see
   * {@link JitterForm}.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A constant delay: a {@link Backoff} without growth.
 *
 * Source: `ConstantBackOff` of github.com/cenkalti/backoff v4, with jitter.
 *
 * @example
 * ```ts
 * import { ConstantBackoff } from "@holdfast/wait/strategies";
 *
 * const next = new ConstantBackoff({ duration: 1_000 }).delayFunc();
 * console.log(next(), next(), next()); // => 1000 1000 1000
 * ```
 */
export class ConstantBackoff implements BackoffStrategy {
  readonly #backoff: Backoff;

  /**
   * @param options - see {@link ConstantBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ConstantBackoffOptions) {
    requireShapeOptions("options", options);
    const { duration, jitter, random } = options;
    this.#backoff = new Backoff({ duration, jitter, random });
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return this.#backoff.delayFunc();
  }
}
