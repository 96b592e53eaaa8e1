import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireAtLeast,
  requireFunction,
  requireMethods,
  requireNotNegative,
  requireOptions,
} from "@holdfast/clock/internal";
import { jitter as jittered, type Random } from "@holdfast/wait";
import { defaultExpiry, FailureRecords } from "./failure-records.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** The delays of an {@link ExponentialLimiter}. */
export interface ExponentialLimiterOptions {
  /**
   * The delay after the first failure, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `5`
   */
  readonly duration?: number | undefined;

  /**
   * What the delay is multiplied by for each further failure. Finite, at least 1.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * The longest delay, in milliseconds, before jitter. Above 0, finite.
   *
   * @defaultValue `1_000_000`, a quarter of an hour and a little
   */
  readonly cap?: number | undefined;

  /**
   * The largest share of a delay that may be added to it at random. Finite, at least 0. Keys that
   * fail together come back together without it.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * For how long failures are remembered after their back-off is over, in milliseconds. At least 0,
   * or `Infinity`: then every key that fails and is never forgotten costs memory for ever. Let it be
   * longer than the longest run: what fails after more than this has failed for the first time.
   *
   * @defaultValue twice the cap, and an hour at least
   */
  readonly expireAfter?: number | undefined;

  /**
   * Tells when a back-off is over. Give it the queue's clock.
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

const LARGEST_GROWTH = 2 ** 63;

/**
 * Delays that double, for each key on its own, from failure to failure.
 *
 * ```text
 * delay(n) = min(duration × factor^n, cap) × (1 + jitter × random())     n failures before this one
 * ```
 *
 * Source: `TypedItemExponentialFailureRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there,
 * a failure counts only when its back-off is over, records expire, and a delay never overflows.
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
    requireOptions("options", options);
    const { duration = 5, factor = 2, cap = 1_000_000, jitter = 0 } = options;
    requireAtLeast("options.duration", duration, 0);
    requireAtLeast("options.factor", factor, 1);
    requireAbove("options.cap", cap, 0);
    const { expireAfter = defaultExpiry(cap), clock = realClock, random } = options;
    requireAtLeast("options.jitter", jitter, 0);
    requireNotNegative("options.expireAfter", expireAfter);
    requireMethods("options.clock", clock, ["monotonic"]);
    if (random !== undefined) requireFunction("options.random", random);
    this.#records = new FailureRecords(clock, expireAfter);
    this.#duration = duration;
    this.#factor = factor;
    this.#cap = cap;
    this.#jitter = jitter;
    this.#random = random;
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

  #delay(failures: number): number {
    // Bounded, because 0 × Infinity is no number.
    const growth = Math.min(this.#factor ** failures, LARGEST_GROWTH);
    const delay = Math.min(this.#duration * growth, this.#cap);
    return this.#jitter > 0 ? jittered(delay, this.#jitter, this.#random) : delay;
  }
}
