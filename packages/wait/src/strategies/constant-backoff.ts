import { requireOptions } from "@holdfast/clock/internal";
import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import type { JitterForm } from "../delay/capped-jitter.ts";
import type { Random } from "../delay/random.ts";

/** The delays of a {@link ConstantBackoff}. */
export interface ConstantBackoffOptions {
  /** The delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * The largest share of the delay that may be added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * The same delay each time, under a name that says so: a {@link Backoff} that cannot grow.
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
    requireOptions("options", options);
    const { duration, jitter, random } = options;
    this.#backoff = new Backoff({ duration, jitter, random });
  }

  /**
   * A fresh sequence of delays from the first on.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return this.#backoff.delayFunc();
  }
}
