import type { PassiveClock } from "@holdfast/clock";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";

/** How far a subscription has come when one of its runs ends. */
export interface Progress {
  /** How many runs have ended, this one included. */
  readonly attempt: number;
  /** Milliseconds since the subscription, or since the first end after a success. */
  readonly elapsed: number;
}

/** What one subscription remembers from run to run: its delays, its count and its start. */
export class Pace {
  readonly #strategy: BackoffStrategy;
  readonly #clock: PassiveClock;
  #start: number;
  #attempt = 0;
  #succeeded = false;
  #next: DelayFunc | undefined = undefined;

  constructor(strategy: BackoffStrategy, clock: PassiveClock) {
    this.#strategy = strategy;
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  /** Lets everything start over when this run ends. Called for each value, so it does no more. */
  succeed(): void {
    this.#succeeded = true;
  }

  endRun(): Progress {
    const now = this.#clock.monotonic();
    if (this.#succeeded) {
      this.#succeeded = false;
      this.#start = now;
      this.#attempt = 0;
      this.#next = undefined;
    }
    return { attempt: ++this.#attempt, elapsed: now - this.#start };
  }

  nextDelay(): number {
    this.#next ??= this.#strategy.delayFunc();
    return this.#next();
  }
}
