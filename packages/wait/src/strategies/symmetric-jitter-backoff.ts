import { above, between, finiteFrom, flag, func, type Kinds, positive, whole } from "@holdfast/kit";
import { Backoff } from "../delay/backoff.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import {
  LONGEST_NANOSECONDS,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";

export const SYMMETRIC_JITTER_BACKOFF_OPTIONS: Kinds<SymmetricJitterBackoffOptions> = {
  duration: finiteFrom(0),
  factor: positive,
  jitter: between(0, 1),
  steps: whole(0),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
};

/** Options for {@link SymmetricJitterBackoff}. */
export interface SymmetricJitterBackoffOptions {
  /**
   * First delay before jitter, in milliseconds. Finite, at least 0. `cap` limits it only with
   * `capAfterJitter`.
   *
   * @defaultValue `500`
   */
  readonly duration?: number | undefined;

  /**
   * Growth of the delay before jitter: each is `factor` times the previous one. Finite, above 0.
   *
   * @defaultValue `1.5`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum random change of a delay, up or down, as a share of it. From 0 to 1.
   *
   * @defaultValue `0.5`
   */
  readonly jitter?: number | undefined;

  /**
   * Maximum number of growths. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * Delay at which growth ends, in milliseconds, before jitter unless `capAfterJitter` is set.
   * Above 0, or `Infinity`.
   *
   * @defaultValue `60_000`
   */
  readonly cap?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter, the first delay included.
   *
   * Growth then ends at `cap / (1 + jitter)`, so that the last delays are still spread, below the
   * cap.
   *
   * @defaultValue `false`: a delay can reach `cap × (1 + jitter)`
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Growing delays with jitter in both directions: their mean is the delay without jitter.
 *
 * With `b = min(duration × factor^n, cap)`, delay number `n`, from 0, is uniform in `b × (1 - jitter)`
 * to `b × (1 + jitter)`, in whole nanoseconds. Both ends are included. As in Go, rounding can add a
 * nanosecond to the longest delay. The sequence has no end: limits belong to the loop.
 *
 * Source: `ExponentialBackOff` of github.com/cenkalti/backoff v4, equal to the nanosecond, with its
 * defaults. Its randomization factor is `jitter`.
 *
 * @example
 * ```ts
 * import { SymmetricJitterBackoff } from "@holdfast/wait/strategies";
 *
 * const random = () => 0.5; // the mean of Math.random
 * const next = new SymmetricJitterBackoff({ duration: 1_000, random }).delayFunc();
 * console.log(next(), next(), next()); // => 1000 1500 2250
 *
 * const least = new SymmetricJitterBackoff({ duration: 1_000, random: () => 0 }).delayFunc();
 * console.log(least(), least(), least()); // => 500 750 1125
 * ```
 */
export class SymmetricJitterBackoff implements BackoffStrategy {
  readonly #growth: Backoff;
  readonly #share: number;
  readonly #max: number;
  readonly #random: Random;

  /**
   * @param options - see {@link SymmetricJitterBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: SymmetricJitterBackoffOptions = {}) {
    const {
      duration = 500,
      factor = 1.5,
      jitter = 0.5,
      steps,
      cap = 60_000,
      capAfterJitter = false,
      random = defaultRandom,
    } = readShape("options", options, "SymmetricJitterBackoff", SYMMETRIC_JITTER_BACKOFF_OPTIONS);
    // A tiny cap must not round to 0, which is not a valid cap.
    const limit = capAfterJitter ? Math.max(cap / (1 + jitter), Number.MIN_VALUE) : cap;
    this.#growth = new Backoff({ duration, factor, steps, cap: limit, capAfterJitter });
    this.#share = jitter;
    this.#max = capAfterJitter ? toNanosecondsWithin(cap) : LONGEST_NANOSECONDS;
    this.#random = random;
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const base = this.#growth.delayFunc();
    return () => this.#spread(toNanoseconds(base()));
  }

  /** The order of operations decides the last nanosecond; it is Go's. */
  #spread(nanoseconds: number): number {
    const draw = this.#random();
    if (this.#share === 0) return toMilliseconds(nanoseconds);
    const width = this.#share * nanoseconds;
    const min = nanoseconds - width;
    const drawn = min + draw * (nanoseconds + width - min + 1);
    return toMilliseconds(Math.min(Math.floor(drawn), this.#max));
  }
}
