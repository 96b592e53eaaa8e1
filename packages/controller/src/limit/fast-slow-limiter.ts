import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAtLeast,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import { defaultExpiry, FailureRecords } from "./failure-records.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** The two delays of a {@link FastSlowLimiter}. */
export interface FastSlowLimiterOptions {
  /** The delay after each of the first failures, in milliseconds. Finite, at least 0. */
  readonly fast: number;

  /** The delay after each further failure, in milliseconds. Finite, at least 0. */
  readonly slow: number;

  /** After how many failures the fast delay stands. A whole number, at least 0. */
  readonly maxFast: number;

  /**
   * For how long failures are remembered after their back-off is over, in milliseconds. At least 0,
   * or `Infinity`: then every key that fails and is never forgotten costs memory for ever. Let it be
   * longer than the longest run: what fails after more than this has failed for the first time.
   *
   * @defaultValue twice the slow delay, and an hour at least
   */
  readonly expireAfter?: number | undefined;

  /**
   * Tells when a back-off is over. Give it the queue's clock.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * A few fast retries of each key, and slow ones from then on.
 *
 * Source: `TypedItemFastSlowRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there, a failure
 * counts only when its back-off is over, and records expire.
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
    requireOptions("options", options);
    const { fast, slow, maxFast, clock = realClock } = options;
    requireAtLeast("options.fast", fast, 0);
    requireAtLeast("options.slow", slow, 0);
    const { expireAfter = defaultExpiry(slow) } = options;
    requireWhole("options.maxFast", maxFast, 0);
    requireNotNegative("options.expireAfter", expireAfter);
    requireMethods("options.clock", clock, ["monotonic"]);
    this.#records = new FailureRecords(clock, expireAfter);
    this.#delayOf = (failures) => (failures < maxFast ? fast : slow);
  }

  /**
   * Counts a failure of `key`, unless it is still backing off.
   *
   * @returns how long from now the key has to wait, in milliseconds
   */
  when(key: string): number {
    return this.#records.fail(key, this.#delayOf);
  }

  /** Forgets the failures of `key`: its next delay is the first again. */
  forget(key: string): void {
    this.#records.forget(key);
  }

  /** How many failures of `key` are counted. */
  requeues(key: string): number {
    return this.#records.failures(key);
  }
}
