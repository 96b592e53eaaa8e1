import type { Clock, Timer } from "@holdfast/clock";
import {
  above,
  type Kinds,
  methods,
  notNegative,
  read,
  required,
  requireSignal,
  Waiters,
  whole,
} from "@holdfast/kit";
import { defaultExpiry, FailureRecords } from "./failure-records.ts";
import { LimiterClock } from "./limiter-clock.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { type Reservation, TokenBucket } from "./token-bucket.ts";

export const TOKEN_BUCKET_LIMITER_OPTIONS: Kinds<TokenBucketLimiterOptions> = {
  qps: required(above(0)),
  burst: required(whole(1)),
  cap: above(0),
  expireAfter: notNegative,
  clock: methods("monotonic", "afterFunc"),
};

/** Options for a {@link TokenBucketLimiter}. */
export interface TokenBucketLimiterOptions {
  /** Tokens per second. Above 0, or `Infinity`. */
  readonly qps: number;

  /** Capacity of the bucket, which begins full. A whole number, at least 1, or `Infinity`. */
  readonly burst: number;

  /**
   * Maximum delay of a retry in milliseconds. Above 0, or `Infinity`. A retry that would wait longer
   * waits this long and takes no token, so a burst of failures is paid off after this time.
   *
   * It does not apply to {@link TokenBucketLimiter.acquire}.
   *
   * @defaultValue `1_000_000`, about 17 minutes
   */
  readonly cap?: number | undefined;

  /**
   * How long failures are remembered after their backoff, in milliseconds. At least 0, or `Infinity`,
   * which keeps a failing key in memory until it is forgotten. Choose more than the longest run: a
   * later failure counts as the first.
   *
   * @defaultValue an hour
   */
  readonly expireAfter?: number | undefined;

  /**
   * Clock that fills the bucket. If given, it must be that of the queue.
   *
   * @defaultValue the clock of the `WorkQueue` or `Controller` that uses the limiter; `realClock` for one
   * that is used alone
   */
  readonly clock?: Clock | undefined;
}

/**
 * Limits the total rate of all keys: each retry and each {@link TokenBucketLimiter.acquire} takes a
 * token, and waits for one if the bucket is empty.
 *
 * A key that waits for a token takes no second one. The delay does not grow with the failures of a key;
 * combine the limiter with a growing one in a {@link MaxOfLimiter}.
 *
 * Source: `TypedBucketRateLimiter` of k8s.io/client-go/util/workqueue over golang.org/x/time/rate,
 * equal to the nanosecond. Unlike there, delays do not grow without bound, a key takes one token
 * however often it asks, and failures are counted per key.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { TokenBucketLimiter } from "@holdfast/controller";
 *
 * const limiter = new TokenBucketLimiter({ qps: 10, burst: 2, cap: 200, clock: new FakeClock() });
 * console.log(["a", "b", "c", "d", "e", "f"].map((key) => limiter.when(key)));
 * // => [ 0, 0, 100, 200, 200, 200 ]
 * ```
 */
export class TokenBucketLimiter implements RateLimiter {
  readonly #clock: LimiterClock;
  readonly #cap: number;
  readonly #bucket: TokenBucket;
  readonly #records: FailureRecords;
  readonly #delayOf = (): number => this.#bucket.reserve(this.#cap)?.delay ?? this.#cap;
  /** Pending calls of `acquire`, and as many reservations: the first call gets the first of them. */
  readonly #waiters = new Waiters<void>(() => this.#leave());
  readonly #reservations: Reservation[] = [];
  #timer: Timer | undefined = undefined;

  /**
   * @param options - see {@link TokenBucketLimiterOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: TokenBucketLimiterOptions) {
    const given = read("options", options, "TokenBucketLimiter", TOKEN_BUCKET_LIMITER_OPTIONS);
    const { qps, burst, cap = 1_000_000, expireAfter = defaultExpiry(0), clock } = given;
    this.#clock = new LimiterClock(this, clock);
    this.#cap = cap;
    this.#bucket = new TokenBucket(this.#clock, qps, burst);
    this.#records = new FailureRecords(this.#clock, expireAfter);
  }

  /**
   * Waits for a token: at most `qps` calls per second proceed, after a burst.
   *
   * Tokens are given out in the order of the calls, also between `acquire` and `when`. `cap` does not
   * apply, because a call without a token would exceed the rate: the wait lasts as long as the debt of
   * the bucket. Limit it with a signal or with `withTimeout`. A call that is aborted takes no token, and
   * all calls behind it move up: under overload the calls that still wait use the whole rate.
   *
   * @param signal - ends the wait: the promise rejects at once with `signal.reason`
   * @returns a promise that resolves when the token is there. A bad argument rejects with a TypeError
   *
   * Source: `Limiter.Wait` of golang.org/x/time/rate. There, the calls behind a canceled one keep their
   * times.
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { TokenBucketLimiter } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const start = clock.monotonic();
   * const limiter = new TokenBucketLimiter({ qps: 2, burst: 1, clock });
   * await clock.run(async () => {
   *   for (const page of [1, 2, 3]) {
   *     await limiter.acquire();
   *     console.log(clock.monotonic() - start, "fetch page", page);
   *   }
   * });
   * // => 0 fetch page 1
   * // => 500 fetch page 2
   * // => 1000 fetch page 3
   * ```
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    if (signal !== undefined) {
      requireSignal("signal", signal);
      if (signal.aborted) throw signal.reason;
    }
    if (this.#isDue(this.#clock.monotonic())) this.#serve(); // a late timer lets nobody jump the queue
    const reservation = this.#bucket.reserve();
    if (reservation.delay === 0) return;
    this.#reservations.push(reservation);
    const token = this.#waiters.wait(signal);
    if (this.#waiters.size === 1) this.#arm();
    await token;
  }

  /**
   * Takes a token for `key` and counts its failure, unless the key is already waiting for a token.
   *
   * @param key - the key that failed
   * @param after - replaces the delay, and takes no token; see {@link RateLimiter.when}
   * @returns the delay before the next attempt, in milliseconds
   * @throws RangeError or TypeError if `after` is not a delay
   */
  when(key: string, after?: number): number {
    return this.#records.fail(key, after === undefined ? this.#delayOf : () => 0, after);
  }

  /** Forgets the failures of `key` and its wait for a token. The token is not returned. */
  forget(key: string): void {
    this.#records.forget(key);
  }

  /** Number of counted failures of `key`. */
  requeues(key: string): number {
    return this.#records.failures(key);
  }

  /** Gives the tokens that are due to the calls that wait for them. */
  #serve(): void {
    const now = this.#clock.monotonic();
    while (this.#isDue(now)) {
      this.#reservations.shift();
      this.#waiters.resolveFirst();
    }
    this.#arm();
  }

  #isDue(now: number): boolean {
    const [first] = this.#reservations;
    return first !== undefined && first.at <= now;
  }

  /** After an abort: the calls behind have moved up, so the last reservation is the one to return. */
  #leave(): void {
    this.#bucket.cancel(this.#reservations.pop() as Reservation); // each call that waits has one
    if (this.#reservations.length === 0) this.#arm();
  }

  #arm(): void {
    this.#timer?.stop();
    this.#timer = undefined;
    const [first] = this.#reservations;
    if (first === undefined) return;
    const delay = Math.max(first.at - this.#clock.monotonic(), 0);
    this.#timer = this.#clock.current.afterFunc(delay, () => this.#serve(), { label: "token" });
  }
}
