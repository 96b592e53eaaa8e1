import type { PassiveClock } from "@holdfast/clock";

/** Requests per second, and the size of the bucket. */
export const QUOTA = { rate: 125, burst: 300 };

/** The quota of an account, as a token bucket. */
export class Quota {
  readonly #clock: PassiveClock;
  #tokens = QUOTA.burst;
  #filledAt: number;
  /** Monotonic times of the requests in the last second, in milliseconds. */
  #recent: number[] = [];

  constructor(clock: PassiveClock) {
    this.#clock = clock;
    this.#filledAt = clock.monotonic();
  }

  /** Requests in the last second, including refused ones. */
  get used(): number {
    const since = this.#clock.monotonic() - 1_000;
    this.#recent = this.#recent.filter((at) => at > since);
    return this.#recent.length;
  }

  /** Tokens left. */
  get left(): number {
    return Math.floor(this.#tokens);
  }

  /** @returns false if no token is left */
  take(): boolean {
    const now = this.#clock.monotonic();
    const earned = ((now - this.#filledAt) / 1_000) * QUOTA.rate;
    this.#tokens = Math.min(QUOTA.burst, this.#tokens + earned);
    this.#filledAt = now;
    this.#recent.push(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
