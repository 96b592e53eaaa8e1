import type { Clock } from "@holdfast/clock";
import {
  above,
  exponential,
  finiteFrom,
  func,
  type Kinds,
  methods,
  notNegative,
  read,
} from "@holdfast/kit";
import { jitter as jittered, type Random } from "@holdfast/wait";
import { defaultExpiry, FailureRecords } from "./failure-records.ts";
import { LimiterClock } from "./limiter-clock.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export const EXPONENTIAL_LIMITER_OPTIONS: Kinds<ExponentialLimiterOptions> = {
  duration: finiteFrom(0),
  factor: finiteFrom(1),
  cap: above(0),
  jitter: finiteFrom(0),
  expireAfter: notNegative,
  clock: methods("monotonic"),
  random: func,
};

/** Options for an {@link ExponentialLimiter}. */
export interface ExponentialLimiterOptions {
  /**
   * Delay after the first failure, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `5`
   */
  readonly duration?: number | undefined;

  /**
   * Factor by which the delay grows with each further failure. Finite, at least 1.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum delay in milliseconds, before jitter. Above 0, or `Infinity`.
   *
   * @defaultValue `1_000_000`, about 17 minutes
   */
  readonly cap?: number | undefined;

  /**
   * Maximum share of a delay that is added to it at random. Finite, at least 0. Without it, keys that
   * fail together are retried together.
   *
   * @defaultValue `0`, no jitter
   */
  readonly jitter?: number | undefined;

  /**
   * How long failures are remembered after their backoff, in milliseconds. At least 0, or `Infinity`,
   * which keeps a failing key in memory until it is forgotten. Choose more than the longest run: a
   * later failure counts as the first.
   *
   * @defaultValue twice the cap, at least an hour
   */
  readonly expireAfter?: number | undefined;

  /**
   * Clock for the backoffs. If given, it must be that of the queue.
   *
   * @defaultValue the clock of the `WorkQueue` or `Controller` that uses the limiter; `realClock` for one
   * that is used alone
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of jitter.
   *
   * @defaultValue the `random` of the `Controller` that uses the limiter, or else `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Delays for each key that double with each failure.
 *
 * ```text
 * delay(n) = min(duration × factor^n, cap) × (1 + jitter × random())     n failures before this one
 * ```
 *
 * Source: `TypedItemExponentialFailureRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there,
 * a failure during a backoff does not count, records expire, and a delay never overflows.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ExponentialLimiter } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const limiter = new ExponentialLimiter({ duration: 100, cap: 300, clock });
 * const failAgain = async () => {
 *   const delay = limiter.when("a");
 *   await clock.step(delay);
 *   return delay;
 * };
 * console.log(await failAgain(), await failAgain(), await failAgain()); // => 100 200 300
 *
 * limiter.when("a");
 * await clock.step(299);
 * console.log(limiter.when("a"), limiter.requeues("a")); // => 1 4
 * ```
 */
export class ExponentialLimiter implements RateLimiter {
  readonly #clock: LimiterClock;
  readonly #records: FailureRecords;
  readonly #duration: number;
  readonly #factor: number;
  readonly #cap: number;
  readonly #jitter: number;
  readonly #random: Random | undefined;
  readonly #delayOf = (failures: number): number => this.#delay(failures);

  /**
   * @param options - see {@link ExponentialLimiterOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ExponentialLimiterOptions = {}) {
    const given = read("options", options, "ExponentialLimiter", EXPONENTIAL_LIMITER_OPTIONS);
    const { duration = 5, factor = 2, cap = 1_000_000, jitter = 0 } = given;
    const { expireAfter = defaultExpiry(cap), clock, random } = given;
    this.#clock = new LimiterClock(this, clock);
    this.#records = new FailureRecords(this.#clock, expireAfter);
    this.#duration = duration;
    this.#factor = factor;
    this.#cap = cap;
    this.#jitter = jitter;
    this.#random = random;
  }

  /**
   * Counts a failure of `key`, unless the key is still backing off.
   *
   * @param key - the key that failed
   * @param after - replaces the delay; see {@link RateLimiter.when}
   * @returns the delay before the next attempt, in milliseconds
   * @throws RangeError or TypeError if `after` is not a delay
   */
  when(key: string, after?: number): number {
    return this.#records.fail(key, this.#delayOf, after);
  }

  /** Forgets the failures of `key`: its next delay is the first again. */
  forget(key: string): void {
    this.#records.forget(key);
  }

  /** Number of counted failures of `key`. */
  requeues(key: string): number {
    return this.#records.failures(key);
  }

  #delay(failures: number): number {
    const grown = exponential(this.#duration, this.#factor, failures);
    const delay = Math.min(grown, this.#cap, Number.MAX_VALUE);
    if (this.#jitter === 0) return delay;
    return jittered(delay, this.#jitter, this.#random ?? this.#clock.random);
  }
}
