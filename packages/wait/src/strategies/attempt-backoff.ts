import {
  requireAbove,
  requireAtLeast,
  requireBoolean,
  requireFunction,
  requireOptions,
  requirePositive,
  requireWhole,
} from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { toMilliseconds, toNanoseconds, toNanosecondsWithin } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";

/**
 * The numbers of an {@link AttemptBackoff}.
 *
 * ```text
 * grown(n) = duration × factor^n
 * delay(n) = grown(n)                                           without `spread`
 *            duration + random() × (grown(n) - duration)        with it
 * ```
 *
 * and the delay is then brought into the range from `duration` to `cap`.
 */
export interface AttemptBackoffOptions {
  /**
   * The first delay and the shortest, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `100`
   */
  readonly duration?: number | undefined;

  /**
   * What a delay is multiplied by to get the next. Finite, above 0; below 1 every delay is the
   * shortest.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * The longest delay, in milliseconds, also of those that are drawn. Above 0, or `Infinity`. Where
   * it is not above `duration`, every delay is the cap.
   *
   * @defaultValue `10_000`
   */
  readonly cap?: number | undefined;

  /**
   * Whether delays are drawn, evenly from `duration` to what they would be. This is not `jitter`,
   * which is a share of the delay itself.
   *
   * The draw comes before the cap: the more attempts, the more of the delays are the cap itself. For
   * clients that must not come back together, take {@link FullJitterBackoff}.
   *
   * @defaultValue `false`
   */
  readonly spread?: boolean | undefined;

  /**
   * Draws the delays.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A growing delay that counts attempts, and can be asked for that of any attempt.
 *
 * Call {@link AttemptBackoff.duration} after each failure and {@link AttemptBackoff.reset} after a
 * success. Where something else counts, such as a row in a database, ask
 * {@link AttemptBackoff.forAttempt}.
 *
 * Source: `Backoff` of github.com/jpillora/backoff, equal to the nanosecond. Its `Min` is `duration`
 * here, its `Max` is `cap` and its `Jitter` is `spread`.
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
  readonly #least: number;
  readonly #factor: number;
  readonly #most: number;
  readonly #spread: boolean;
  readonly #random: Random;
  #attempt = 0;

  /**
   * @param options - see {@link AttemptBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: AttemptBackoffOptions = {}) {
    requireOptions("options", options);
    const {
      duration = 100,
      factor = 2,
      cap = 10_000,
      spread = false,
      random = defaultRandom,
    } = options;
    requireAtLeast("options.duration", duration, 0);
    requirePositive("options.factor", factor);
    requireAbove("options.cap", cap, 0);
    requireBoolean("options.spread", spread);
    requireFunction("options.random", random);
    this.#options = { duration, factor, cap, spread, random };
    this.#least = toNanoseconds(duration);
    this.#factor = factor;
    this.#most = toNanosecondsWithin(cap);
    this.#spread = spread;
    this.#random = random;
  }

  /**
   * The delay of the current attempt; the next call gives that of the next.
   *
   * @returns milliseconds
   */
  duration(): number {
    return this.forAttempt(this.#attempt++);
  }

  /**
   * The delay of an attempt, whatever this object has counted.
   *
   * @param attempt - a whole number, counted from 0
   * @returns milliseconds
   * @throws RangeError or TypeError if `attempt` is out of its range
   */
  forAttempt(attempt: number): number {
    requireWhole("attempt", attempt, 0);
    if (this.#least >= this.#most) return toMilliseconds(this.#most);
    const grown = this.#grown(attempt);
    const delay = this.#spread ? this.#random() * (grown - this.#least) + this.#least : grown;
    return toMilliseconds(Math.min(Math.max(Math.floor(delay), this.#least), this.#most));
  }

  /** The next attempt is attempt 0 again. */
  reset(): void {
    this.#attempt = 0;
  }

  /**
   * Which attempt is next.
   *
   * @returns a whole number, counted from 0
   */
  attempt(): number {
    return this.#attempt;
  }

  /**
   * A back-off with the same numbers that has counted nothing.
   *
   * @returns an object of its own
   */
  copy(): AttemptBackoff {
    return new AttemptBackoff(this.#options);
  }

  /**
   * A fresh sequence of delays from attempt 0 on.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const copy = this.copy();
    return () => copy.duration();
  }

  /** Finite, so that neither 0 times it nor a draw of 0 is NaN. */
  #grown(attempt: number): number {
    const times = Math.min(power(this.#factor, attempt), Number.MAX_VALUE);
    return Math.min(this.#least * times, Number.MAX_VALUE);
  }
}

/**
 * `base` to a power that is a whole number, by repeated squaring: `Math.pow` may differ in the last
 * digit from engine to engine, and does differ from Go's.
 */
export function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = Math.min(exponent, Number.MAX_VALUE); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}
