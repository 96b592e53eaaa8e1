import { LivelockError } from "./livelock-error.ts";

/** Firings at one instant that can only be a loop that waits 0 ms. */
const MOST_AT_ONE_INSTANT = 100_000;

/** Counts the timers of one drive and ends a drive that would not end by itself. */
export class LivelockGuard {
  readonly #maxTimers: number;
  #fired = 0;
  #instant = Number.NEGATIVE_INFINITY;
  #atThisInstant = 0;

  constructor(maxTimers: number) {
    this.#maxTimers = maxTimers;
  }

  get fired(): number {
    return this.#fired;
  }

  /** To be called after each timer, with its label and the instant at which it fired. */
  count(label: string | undefined, instant: number): void {
    if (instant !== this.#instant) {
      this.#instant = instant;
      this.#atThisInstant = 0;
    }
    this.#fired++;
    this.#atThisInstant++;
    if (this.#atThisInstant > MOST_AT_ONE_INSTANT) {
      const what = `${MOST_AT_ONE_INSTANT} timers fired without time moving`;
      throw new LivelockError(what, this.#fired, label);
    }
    if (this.#fired > this.#maxTimers) {
      throw new LivelockError(`more than ${this.#maxTimers} timers fired`, this.#fired, label);
    }
  }
}
