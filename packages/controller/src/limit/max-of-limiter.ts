import { type Clock, realClock } from "@holdfast/clock";
import {
  requireArray,
  requireAtLeast,
  requireFunction,
  requireMethods,
  requireOptions,
} from "@holdfast/clock/internal";
import { jitter as jittered, type Random } from "@holdfast/wait";
import { FailureRecords } from "./failure-records.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** What a {@link MaxOfLimiter} makes of the longest delay. */
export interface MaxOfLimiterOptions {
  /**
   * The largest share of a delay that may be added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Tells when a delay is over. Give it the queue's clock.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * The longest of what several limiters say.
 *
 * It asks them about a failure that counts, and no sooner than the longest delay is over. There is no
 * cap here: each limiter has its own, because one that is cut off from outside does not know that its
 * back-off is over.
 *
 * Source: `TypedMaxOfRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there, a failure counts
 * only when its back-off is over. A cap in each limiter stands for `TypedWithMaxWaitRateLimiter`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ExponentialLimiter, MaxOfLimiter, TokenBucketLimiter } from "@holdfast/controller";
 *
 * // What client-go gives a controller.
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
  readonly #limiters: readonly RateLimiter[];
  readonly #jitter: number;
  readonly #random: Random | undefined;
  /** Who backs off from the longest delay. */
  readonly #waiting: FailureRecords;
  readonly #delayOf = (_failures: number, key: string): number => this.#longest(key);

  /**
   * @param limiters - all of them belong to this one alone
   * @param options - see {@link MaxOfLimiterOptions}
   * @throws RangeError or TypeError if an argument is out of its range
   */
  constructor(limiters: readonly RateLimiter[], options: MaxOfLimiterOptions = {}) {
    requireArray("limiters", limiters);
    for (const [index, limiter] of limiters.entries())
      requireMethods(`limiters[${index}]`, limiter, ["when", "forget", "requeues"]);
    requireOptions("options", options);
    const { jitter = 0, clock = realClock, random } = options;
    requireAtLeast("options.jitter", jitter, 0);
    requireMethods("options.clock", clock, ["monotonic"]);
    if (random !== undefined) requireFunction("options.random", random);
    this.#limiters = [...limiters];
    this.#jitter = jitter;
    this.#random = random;
    this.#waiting = new FailureRecords(clock, 0);
  }

  /**
   * Counts a failure of `key`, unless it is still backing off.
   *
   * @returns how long from now the key has to wait, in milliseconds
   */
  when(key: string): number {
    return this.#waiting.fail(key, this.#delayOf);
  }

  /** Forgets the failures of `key`: its next delay is the first again. */
  forget(key: string): void {
    this.#waiting.forget(key);
    for (const limiter of this.#limiters) limiter.forget(key);
  }

  /** The most that one of the limiters counts. */
  requeues(key: string): number {
    return Math.max(0, ...this.#limiters.map((limiter) => limiter.requeues(key)));
  }

  #longest(key: string): number {
    const delays = this.#limiters.map((limiter) => limiter.when(key));
    const delay = Math.max(0, ...delays);
    if (this.#jitter === 0 || delay === Number.POSITIVE_INFINITY) return delay;
    return jittered(delay, this.#jitter, this.#random);
  }
}
