import type { PassiveClock } from "@holdfast/clock";
import { roundToNanosecond } from "@holdfast/clock/internal";

/** A token that is taken now and may be used later. */
export interface Reservation {
  /** Milliseconds until the token may be used. */
  readonly delay: number;
  /** The instant at which it may be used, on the clock's monotonic line. */
  readonly at: number;
}

const NANOSECONDS = 1e6;
const PER_SECOND = 1e9;
/** In nanoseconds about 292 years, the longest duration in Go. */
const LONGEST = 2 ** 63;

/**
 * The arithmetic of `Limiter` of golang.org/x/time/rate, in the order of Go's operations, which affects
 * the last nanosecond.
 */
export class TokenBucket {
  readonly #clock: PassiveClock;
  readonly #qps: number;
  readonly #burst: number;
  /** Negative while reserved tokens are still outstanding. */
  #tokens: number;
  #filledAt: number;
  /** When the latest reservation may be used. */
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(clock: PassiveClock, qps: number, burst: number) {
    this.#clock = clock;
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAt = clock.monotonic();
  }

  reserve(): Reservation;
  /** Takes no token and returns undefined if the wait would exceed `maxDelay` milliseconds. */
  reserve(maxDelay: number): Reservation | undefined;
  reserve(maxDelay = Number.POSITIVE_INFINITY): Reservation | undefined {
    const now = this.#clock.monotonic();
    if (this.#qps === Number.POSITIVE_INFINITY) return { delay: 0, at: now };
    this.#fill(now);
    const tokens = this.#tokens - 1;
    const delay = tokens < 0 ? this.#durationOf(-tokens) : 0;
    if (delay > maxDelay) return undefined;
    this.#tokens = tokens;
    this.#lastAt = roundToNanosecond(now + delay);
    return { delay, at: this.#lastAt };
  }

  /**
   * Returns a token that is not due yet. Later reservations keep their times, so only the part of the
   * token that they do not depend on is returned.
   */
  cancel({ at }: Reservation): void {
    const now = this.#clock.monotonic();
    if (at < now) return;
    const tokens = 1 - this.#tokensIn(this.#lastAt - at);
    if (tokens <= 0) return;
    this.#fill(now);
    this.#tokens += tokens; // the next use fills it to its burst at most
    if (at !== this.#lastAt) return;
    const before = roundToNanosecond(at - this.#durationOf(1));
    if (before >= now) this.#lastAt = before;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#tokens + this.#tokensIn(now - this.#filledAt), this.#burst);
    this.#filledAt = now;
  }

  #tokensIn(duration: number): number {
    const elapsed = Math.round(duration * NANOSECONDS);
    const seconds = Math.floor(elapsed / PER_SECOND) + (elapsed % PER_SECOND) / PER_SECOND;
    return seconds * this.#qps;
  }

  /** Milliseconds, cut off at the nanosecond. */
  #durationOf(tokens: number): number {
    return Math.trunc(Math.min((tokens / this.#qps) * PER_SECOND, LONGEST)) / NANOSECONDS;
  }
}
