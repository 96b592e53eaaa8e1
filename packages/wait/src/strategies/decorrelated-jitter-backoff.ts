import { above, finiteFrom, func, type Kinds, required } from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import {
  LONGEST_NANOSECONDS,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";

export const DECORRELATED_JITTER_BACKOFF_OPTIONS: Kinds<DecorrelatedJitterBackoffOptions> = {
  duration: required(finiteFrom(0)),
  factor: finiteFrom(1),
  cap: above(0),
  random: func,
};

/** Options for {@link DecorrelatedJitterBackoff}. */
export interface DecorrelatedJitterBackoffOptions {
  /** Minimum delay in milliseconds, unless `cap` is shorter. Finite, at least 0. */
  readonly duration: number;

  /**
   * Maximum ratio of a delay to the previous one. Finite, at least 1.
   *
   * @defaultValue `3`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum delay in milliseconds; no delay exceeds it. Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Delays drawn from a range that depends on the previous delay, so that clients that failed together
 * stay apart.
 *
 * ```text
 * delay(-1) = duration
 * delay(n)  = min(cap, uniform(duration, delay(n - 1) × factor))     the end excluded
 * ```
 *
 * A delay can be shorter than the previous one. A draw above `cap` becomes `cap`: with the default
 * factor at least one third of the delays after the cap equal it.
 *
 * Source: "Decorrelated Jitter" of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 * Polly's function of that name computes different delays.
 *
 * @example
 * ```ts
 * import { DecorrelatedJitterBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of Math.random
 * const next = new DecorrelatedJitterBackoff({ duration: 100, cap: 1_000, random }).delayFunc();
 * console.log(next(), next(), next(), next()); // => 200 350 575 912.5
 * console.log(next(), next()); // => 1000 1000
 * ```
 */
export class DecorrelatedJitterBackoff implements BackoffStrategy {
  readonly #min: number;
  readonly #factor: number;
  readonly #max: number;
  readonly #random: Random;

  /**
   * @param options - see {@link DecorrelatedJitterBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: DecorrelatedJitterBackoffOptions) {
    const {
      duration,
      factor = 3,
      cap = Number.POSITIVE_INFINITY,
      random = defaultRandom,
    } = readShape(
      "options",
      options,
      "DecorrelatedJitterBackoff",
      DECORRELATED_JITTER_BACKOFF_OPTIONS,
    );
    this.#min = toNanoseconds(duration);
    this.#factor = factor;
    this.#max = toNanosecondsWithin(cap);
    this.#random = random;
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    let previous = this.#min;
    return () => {
      const end = Math.min(previous * this.#factor, LONGEST_NANOSECONDS);
      const drawn = this.#min + this.#random() * (end - this.#min);
      previous = Math.min(Math.floor(drawn), this.#max);
      return toMilliseconds(previous);
    };
  }
}
