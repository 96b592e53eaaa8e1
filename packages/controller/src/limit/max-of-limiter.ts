import type { Clock } from "@holdfast/clock";
import {
  finiteFrom,
  func,
  type Kinds,
  methods,
  read,
  requireArray,
  requireMethods,
} from "@holdfast/kit";
import { jitter as jittered, type Random } from "@holdfast/wait";
import { FailureRecords } from "./failure-records.ts";
import { LimiterClock } from "./limiter-clock.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export const MAX_OF_LIMITER_OPTIONS: Kinds<MaxOfLimiterOptions> = {
  jitter: finiteFrom(0),
  clock: methods("monotonic"),
  random: func,
};

/** Options for a {@link MaxOfLimiter}. */
export interface MaxOfLimiterOptions {
  /**
   * Maximum share of the delay that is added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`, no jitter
   */
  readonly jitter?: number | undefined;

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
 * The longest delay of several limiters.
 *
 * A failure counts only after the longest delay is over. The limiter has no cap of its own, because the
 * inner limiters could not know that their backoff was cut short; set a cap in each of them.
 *
 * Source: `TypedMaxOfRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there, a failure during a
 * backoff does not count. A cap in each limiter replaces `TypedWithMaxWaitRateLimiter`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ExponentialLimiter, MaxOfLimiter, TokenBucketLimiter } from "@holdfast/controller";
 *
 * // The default limiter of a controller in client-go.
 * const clock = new FakeClock();
 * const limiter = new MaxOfLimiter(
 *   [new ExponentialLimiter({ clock }), new TokenBucketLimiter({ qps: 10, burst: 100, clock })],
 *   { clock },
 * );
 * const delays = Array.from({ length: 103 }, (_, i) => limiter.when(`key ${i}`));
 * console.log(delays.slice(98)); // => [ 5, 5, 100, 200, 300 ]
 * ```
 */
export class MaxOfLimiter implements RateLimiter {
  readonly #clock: LimiterClock;
  readonly #limiters: readonly RateLimiter[];
  readonly #jitter: number;
  readonly #random: Random | undefined;
  /** The keys in backoff from the longest delay. The inner limiters count their failures. */
  readonly #backingOff: FailureRecords;

  /**
   * @param limiters - at least one; do not use them anywhere else
   * @param options - see {@link MaxOfLimiterOptions}
   * @throws RangeError or TypeError if an argument is out of its range
   */
  constructor(limiters: readonly RateLimiter[], options: MaxOfLimiterOptions = {}) {
    requireArray("limiters", limiters);
    if (limiters.length === 0) throw new RangeError("limiters must contain at least one limiter");
    for (const [index, limiter] of limiters.entries())
      requireMethods(`limiters[${index}]`, limiter, ["when", "forget", "requeues"]);
    const given = read("options", options, "MaxOfLimiter", MAX_OF_LIMITER_OPTIONS);
    const { jitter = 0, clock, random } = given;
    this.#limiters = [...limiters];
    this.#jitter = jitter;
    this.#random = random;
    this.#clock = new LimiterClock(this, clock, limiters);
    this.#backingOff = new FailureRecords(this.#clock, 0);
  }

  /**
   * Counts a failure of `key` in every limiter, unless the key is still backing off.
   *
   * @param key - the key that failed
   * @param after - replaces the delay; see {@link RateLimiter.when}
   * @returns the delay before the next attempt, in milliseconds
   * @throws RangeError or TypeError if `after` is not a delay
   */
  when(key: string, after?: number): number {
    return this.#backingOff.fail(key, () => this.#longest(key, after), after);
  }

  /** Forgets the failures of `key`: its next delay is the first again. */
  forget(key: string): void {
    this.#backingOff.forget(key);
    for (const limiter of this.#limiters) limiter.forget(key);
  }

  /** Number of counted failures of `key`: the maximum of all limiters. */
  requeues(key: string): number {
    return Math.max(...this.#limiters.map((limiter) => limiter.requeues(key)));
  }

  #longest(key: string, after: number | undefined): number {
    const delay = Math.max(0, ...this.#limiters.map((limiter) => counted(limiter, key, after)));
    if (this.#jitter === 0 || delay === Number.POSITIVE_INFINITY) return delay;
    return jittered(delay, this.#jitter, this.#random ?? this.#clock.random);
  }
}

/**
 * Counts a failure in a limiter, also during its own backoff: a failure with its own delay may have
 * shortened the longest backoff.
 */
function counted(limiter: RateLimiter, key: string, after: number | undefined): number {
  const failures = limiter.requeues(key);
  const isCounted = (): boolean => failures === 0 || limiter.requeues(key) > failures;
  const delay = limiter.when(key, after);
  if (isCounted()) return delay;
  limiter.when(key, 0); // ends the backoff; if the delay was 0, it was over and this counts
  return isCounted() ? delay : limiter.when(key, after);
}
