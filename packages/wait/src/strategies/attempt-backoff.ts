import {
  above,
  exponential,
  finiteFrom,
  flag,
  func,
  type Kinds,
  positive,
  requireWhole,
} from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { toMilliseconds, toNanoseconds, toNanosecondsWithin } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";

export const ATTEMPT_BACKOFF_OPTIONS: Kinds<AttemptBackoffOptions> = {
  duration: finiteFrom(0),
  factor: positive,
  cap: above(0),
  spread: flag,
  random: func,
};

/**
 * Options for {@link AttemptBackoff}.
 *
 * ```text
 * grown(n) = duration × factor^n
 * delay(n) = grown(n)                                           without `spread`
 *            duration + random() × (grown(n) - duration)        with `spread`
 * ```
 *
 * The delay is then limited to the range from `duration` to `cap`.
 */
export interface AttemptBackoffOptions {
  /**
   * First and minimum delay, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `100`
   */
  readonly duration?: number | undefined;

  /**
   * Growth of the delay: each delay is `factor` times the previous one. Finite, above 0; below 1
   * every delay is the minimum.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum delay in milliseconds, with and without `spread`. Above 0, or `Infinity`. If it is at
   * most `duration`, every delay is the cap.
   *
   * @defaultValue `10_000`
   */
  readonly cap?: number | undefined;

  /**
   * Whether each delay is drawn evenly from `duration` to the grown delay. Unlike `jitter`, it does
   * not add a share of the delay.
   *
   * The draw comes before the cap: with more attempts, more delays equal the cap. For clients that
   * must not return together, use a `Backoff` with `"full"` jitter.
   *
   * @defaultValue `false`
   */
  readonly spread?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A growing delay that counts attempts, and computes the delay of any attempt.
 *
 * Call {@link AttemptBackoff.duration} after each failure and {@link AttemptBackoff.reset} after a
 * success. If the number of the attempt is stored elsewhere, in a database for example, call
 * {@link AttemptBackoff.forAttempt}.
 *
 * Source: `Backoff` of github.com/jpillora/backoff, equal to the nanosecond. Its `Min` is `duration`,
 * its `Max` is `cap` and its `Jitter` is `spread`.
 *
 * @example
 * ```ts
 * import { AttemptBackoff } from "@holdfast/wait/strategies";
 *
 * const backoff = new AttemptBackoff({ cap: 1_000 });
 * console.log(backoff.duration(), backoff.duration(), backoff.duration()); // => 100 200 400
 * console.log(backoff.attempt(), backoff.forAttempt(9)); // => 3 1000
 * backoff.reset();
 * console.log(backoff.duration()); // => 100
 * ```
 */
export class AttemptBackoff implements BackoffStrategy {
  readonly #options: AttemptBackoffOptions;
  readonly #min: number;
  readonly #factor: number;
  readonly #max: number;
  readonly #spread: boolean;
  readonly #random: Random;
  #attempt = 0;

  /**
   * @param options - see {@link AttemptBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: AttemptBackoffOptions = {}) {
    const {
      duration = 100,
      factor = 2,
      cap = 10_000,
      spread = false,
      random = defaultRandom,
    } = readShape("options", options, "AttemptBackoff", ATTEMPT_BACKOFF_OPTIONS);
    this.#options = { duration, factor, cap, spread, random };
    this.#min = toNanoseconds(duration);
    this.#factor = factor;
    this.#max = toNanosecondsWithin(cap);
    this.#spread = spread;
    this.#random = random;
  }

  /**
   * Returns the delay of the current attempt and counts it.
   *
   * @returns milliseconds
   */
  duration(): number {
    return this.forAttempt(this.#attempt++);
  }

  /**
   * Returns the delay of any attempt. Does not count it.
   *
   * @param attempt - number of the attempt: a whole number, from 0
   * @returns milliseconds
   * @throws RangeError or TypeError if `attempt` is out of its range
   */
  forAttempt(attempt: number): number {
    requireWhole("attempt", attempt, 0);
    if (this.#min >= this.#max) return toMilliseconds(this.#max);
    const grown = Math.min(exponential(this.#min, this.#factor, attempt), Number.MAX_VALUE);
    const delay = this.#spread ? this.#random() * (grown - this.#min) + this.#min : grown;
    return toMilliseconds(Math.min(Math.max(Math.floor(delay), this.#min), this.#max));
  }

  /** Starts over: the next attempt is attempt 0. */
  reset(): void {
    this.#attempt = 0;
  }

  /**
   * The number of the next attempt.
   *
   * @returns a whole number, from 0
   */
  attempt(): number {
    return this.#attempt;
  }

  /**
   * Copies the options into a new object at attempt 0.
   *
   * @returns a new object
   */
  copy(): AttemptBackoff {
    return new AttemptBackoff(this.#options);
  }

  /**
   * Starts a new sequence at the delay of attempt 0.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    let attempt = 0;
    return () => this.forAttempt(attempt++);
  }
}
