import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireMethods,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import { FailureRecords } from "./failure-records.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** The rate of a {@link TokenBucketLimiter}. */
export interface TokenBucketLimiterOptions {
  /** How many retries a second the bucket allows in the long run. Above 0, or `Infinity`. */
  readonly qps: number;

  /** How many retries the bucket allows at once when it is full. A whole number, at least 1. */
  readonly burst: number;

  /**
   * The longest delay, in milliseconds. Above 0, or `Infinity`. Who would have to wait longer waits
   * for this long and takes no token, so that a burst of failures is paid off after this time.
   *
   * @defaultValue `1_000_000`, a quarter of an hour and a little
   */
  readonly cap?: number | undefined;

  /**
   * Fills the bucket. Give it the queue's clock.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

const NANOSECONDS = 1e6;
const PER_SECOND = 1e9;
/** About 292 years: as far as Go's durations reach. */
const LONGEST = 2 ** 63;

/**
 * Limits the retries of all keys together: each takes a token, and waits for it if there is none.
 *
 * A key that waits for its token does not take another one. It counts no failures per key; put it
 * into a {@link MaxOfLimiter} beside one that does.
 *
 * Source: `TypedBucketRateLimiter` of k8s.io/client-go/util/workqueue over golang.org/x/time/rate,
 * equal to the nanosecond. Unlike there, delays do not grow without bound, and a key takes one token
 * however often it asks.
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
  readonly #clock: Clock;
  readonly #qps: number;
  readonly #burst: number;
  readonly #cap: number;
  /** Who waits for a token it has taken. */
  readonly #waiting: FailureRecords;
  readonly #reserve = (): number => this.#take();
  #tokens: number;
  #filledAt: number;

  /**
   * @param options - see {@link TokenBucketLimiterOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: TokenBucketLimiterOptions) {
    requireOptions("options", options);
    const { qps, burst, cap = 1_000_000, clock = realClock } = options;
    requireAbove("options.qps", qps, 0);
    requireWhole("options.burst", burst, 1);
    requireAbove("options.cap", cap, 0);
    requireMethods("options.clock", clock, ["monotonic"]);
    this.#clock = clock;
    this.#qps = qps;
    this.#burst = burst;
    this.#cap = cap;
    this.#waiting = new FailureRecords(clock, 0);
    this.#tokens = burst;
    this.#filledAt = clock.monotonic();
  }

  /**
   * Takes a token for `key`, unless it still waits for one.
   *
   * @returns how long from now the key has to wait, in milliseconds
   */
  when(key: string): number {
    return this.#waiting.fail(key, this.#reserve);
  }

  /** Forgets that the key waits for a token. The token is not given back. */
  forget(key: string): void {
    this.#waiting.forget(key);
  }

  /** Always 0: it does not count by key. */
  requeues(_key: string): number {
    return 0;
  }

  /** Takes a token, which may not be there yet, and returns when it will be. */
  #take(): number {
    if (this.#qps === Number.POSITIVE_INFINITY) return 0;
    this.#fill();
    const tokens = this.#tokens - 1;
    const wait = Math.min((-tokens / this.#qps) * PER_SECOND, LONGEST);
    const delay = tokens < 0 ? Math.trunc(wait) / NANOSECONDS : 0;
    if (delay > this.#cap) return this.#cap;
    this.#tokens = tokens;
    return delay;
  }

  /** In the order of Go's operations, because that decides the last nanosecond. */
  #fill(): void {
    const now = this.#clock.monotonic();
    const elapsed = Math.round((now - this.#filledAt) * NANOSECONDS);
    const seconds = Math.floor(elapsed / PER_SECOND) + (elapsed % PER_SECOND) / PER_SECOND;
    this.#tokens = Math.min(this.#tokens + seconds * this.#qps, this.#burst);
    this.#filledAt = now;
  }
}
