import type { Clock } from "@holdfast/clock";
import { finiteFrom, type Kinds, methods, notNegative, read, required, whole } from "@holdfast/kit";
import { defaultExpiry, FailureRecords } from "./failure-records.ts";
import { LimiterClock } from "./limiter-clock.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export const FAST_SLOW_LIMITER_OPTIONS: Kinds<FastSlowLimiterOptions> = {
  fast: required(finiteFrom(0)),
  slow: required(finiteFrom(0)),
  maxFast: required(whole(0)),
  expireAfter: notNegative,
  clock: methods("monotonic"),
};

/** Options for a {@link FastSlowLimiter}. */
export interface FastSlowLimiterOptions {
  /** Delay after each of the first failures, in milliseconds. Finite, at least 0. */
  readonly fast: number;

  /** Delay after each further failure, in milliseconds. Finite, at least 0. */
  readonly slow: number;

  /** Number of failures with the fast delay. Whole, at least 0, or `Infinity`. */
  readonly maxFast: number;

  /**
   * How long failures are remembered after their backoff, in milliseconds. At least 0, or `Infinity`,
   * which keeps a failing key in memory until it is forgotten. Choose more than the longest run: a
   * later failure counts as the first.
   *
   * @defaultValue twice the slow delay, at least an hour
   */
  readonly expireAfter?: number | undefined;

  /**
   * Clock for the backoffs. If given, it must be that of the queue.
   *
   * @defaultValue the clock of the `WorkQueue` or `Controller` that uses the limiter; `realClock` for one
   * that is used alone
   */
  readonly clock?: Clock | undefined;
}

/**
 * A few fast retries per key, then slow ones.
 *
 * Source: `TypedItemFastSlowRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there, a failure
 * during a backoff does not count, and records expire.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { FastSlowLimiter } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const limiter = new FastSlowLimiter({ fast: 5, slow: 10_000, maxFast: 2, clock });
 * for (let i = 0; i < 3; i++) {
 *   const delay = limiter.when("a");
 *   console.log(delay);
 *   await clock.step(delay);
 * }
 * // => 5
 * // => 5
 * // => 10000
 * ```
 */
export class FastSlowLimiter implements RateLimiter {
  readonly #records: FailureRecords;
  readonly #delayOf: (failures: number) => number;

  /**
   * @param options - see {@link FastSlowLimiterOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: FastSlowLimiterOptions) {
    const given = read("options", options, "FastSlowLimiter", FAST_SLOW_LIMITER_OPTIONS);
    const { fast, slow, maxFast, expireAfter = defaultExpiry(slow), clock } = given;
    this.#records = new FailureRecords(new LimiterClock(this, clock), expireAfter);
    this.#delayOf = (failures) => (failures < maxFast ? fast : slow);
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
}
