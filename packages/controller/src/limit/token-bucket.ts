import type { PassiveClock } from "@holdfast/clock";
import { roundToNanosecond } from "@holdfast/kit";

/** A token that is taken now and may be used later. */
export interface Reservation {
  /** Milliseconds until the token may be used. */
  readonly delay: number;
  /** The instant at which it may be used, on the clock's monotonic line. */
  readonly at: number;
  /** Its number among all reservations. */
  readonly number: number;
}

const NANOSECONDS = 1e6;
const PER_SECOND = 1e9;
/** In nanoseconds about 292 years, the longest duration in Go. */
const LONGEST = 2 ** 63;

/**
 * The arithmetic of `Limiter` of golang.org/x/time/rate, in the order of Go's operations, which affects
 * the last nanosecond.
 *
 * Unlike there, a canceled reservation costs nothing: its instant is given to the next one.
 */
export class TokenBucket {
  readonly #clock: Pick<PassiveClock, "monotonic">;
  readonly #qps: number;
  readonly #burst: number;
  /** Negative while reserved tokens are still outstanding. */
  #tokens: number;
  /** Undefined until the first use: only then is the clock known. */
  #filledAt: number | undefined = undefined;
  /** Number of reservations, without canceled ones. */
  #reserved = 0;
  /** Canceled reservations that later ones were counted from, the earliest last. */
  readonly #free: Reservation[] = [];

  constructor(clock: Pick<PassiveClock, "monotonic">, qps: number, burst: number) {
    this.#clock = clock;
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
  }

  reserve(): Reservation;
  /** Takes no token and returns undefined if the wait would exceed `maxDelay` milliseconds. */
  reserve(maxDelay: number): Reservation | undefined;
  reserve(maxDelay = Number.POSITIVE_INFINITY): Reservation | undefined {
    const now = this.#clock.monotonic();
    if (this.#qps === Number.POSITIVE_INFINITY) return { delay: 0, at: now, number: 0 };
    // Unused instants of the past are tokens in stock. With the part of a token that has grown since the
    // latest of them, the stock stays within the burst.
    while ((this.#free.at(-this.#burst)?.at ?? now) < now) this.#free.pop();
    const free = this.#free.at(-1);
    if (free !== undefined) {
      const rest = Math.max(roundToNanosecond(free.at - now), 0);
      if (rest > maxDelay) return undefined;
      this.#free.pop();
      return { ...free, delay: rest };
    }
    this.#fill(now);
    const tokens = this.#tokens - 1;
    const delay = tokens < 0 ? this.#durationOf(-tokens) : 0;
    if (delay > maxDelay) return undefined;
    this.#tokens = tokens;
    this.#reserved++;
    return { delay, at: roundToNanosecond(now + delay), number: this.#reserved };
  }

  /** Returns an unused token, the latest first: no earlier one may be canceled before. */
  cancel(reservation: Reservation): void {
    if (reservation.number !== this.#reserved) {
      this.#free.push(reservation);
      return;
    }
    this.#reserved--;
    this.#tokens += 1; // the next use fills it to its burst at most
  }

  #fill(now: number): void {
    this.#tokens = Math.min(
      this.#tokens + this.#tokensIn(now - (this.#filledAt ?? now)),
      this.#burst,
    );
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
