import type { PassiveClock } from "@holdfast/clock";

/** Requests a second, and how many more at once after a quiet time. */
export const QUOTA = { rate: 125, burst: 300 };

/** The quota of an account: a bucket that each request takes a token from. */
export class Quota {
  readonly #clock: PassiveClock;
  #tokens = QUOTA.burst;
  #filledAt: number;
  /** Instants of the requests of the last second. */
  #recent: number[] = [];

  constructor(clock: PassiveClock) {
    this.#clock = clock;
    this.#filledAt = clock.monotonic();
  }

  /** Requests of the last second. */
  get used(): number {
    const since = this.#clock.monotonic() - 1_000;
    this.#recent = this.#recent.filter((at) => at > since);
    return this.#recent.length;
  }

  /** Tokens that are left. */
  get left(): number {
    return Math.floor(this.#tokens);
  }

  /** @returns false if the account has used up its quota */
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
