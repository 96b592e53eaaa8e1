import { LivelockError } from "./livelock-error.ts";

/**
 * So many firings at one instant are many timers or a loop that waits 0 ms. Of many, all that will
 * fire are armed by then.
 */
const MANY_AT_ONE_INSTANT = 100_000;

/** What a {@link LivelockGuard} looks at. */
export interface Guarded {
  monotonic(): number;
  /** How many timers are armed. */
  readonly size: number;
}

/** Counts the timers of one drive and ends a drive that would not end by itself. */
export class LivelockGuard {
  readonly #subject: Guarded;
  readonly #maxTimers: number;
  #fired = 0;
  #instant = Number.NEGATIVE_INFINITY;
  #atThisInstant = 0;
  #mostAtThisInstant = MANY_AT_ONE_INSTANT;

  constructor(subject: Guarded, maxTimers: number) {
    this.#subject = subject;
    this.#maxTimers = maxTimers;
  }

  get fired(): number {
    return this.#fired;
  }

  /** To be called after each timer, at the instant at which it fired, with its label. */
  count(label: string | undefined): void {
    const instant = this.#subject.monotonic();
    if (instant !== this.#instant) {
      this.#instant = instant;
      this.#atThisInstant = 0;
      this.#mostAtThisInstant = MANY_AT_ONE_INSTANT;
    }
    this.#fired++;
    this.#atThisInstant++;
    if (this.#atThisInstant === MANY_AT_ONE_INSTANT) this.#mostAtThisInstant += this.#subject.size;
    if (this.#atThisInstant > this.#mostAtThisInstant) {
      const what = `${MANY_AT_ONE_INSTANT} timers fired without time moving`;
      throw new LivelockError(what, this.#fired, label);
    }
    if (this.#fired > this.#maxTimers) {
      throw new LivelockError(`more than ${this.#maxTimers} timers fired`, this.#fired, label);
    }
  }
}
