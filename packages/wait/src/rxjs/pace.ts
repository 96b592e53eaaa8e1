import type { PassiveClock } from "@holdfast/clock";
import { defer, type Observable } from "rxjs";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";

/** Progress of a subscription at the end of a run. */
export interface Progress {
  /** Number of runs that have ended, including this one. */
  readonly attempt: number;
  /** Milliseconds since the subscription, or since the first end after a success. */
  readonly elapsed: number;
}

/** State of one subscription across its runs: delays, count and start. */
export class Pace {
  readonly #strategy: BackoffStrategy;
  readonly #clock: PassiveClock;
  #start: number;
  #attempt = 0;
  #succeeded = false;
  /** Duration of a run that counts as a success, in nanoseconds. */
  readonly #resetAfter: number;
  #runStart = 0;
  #next: DelayFunc | undefined = undefined;

  constructor(
    strategy: BackoffStrategy,
    clock: PassiveClock,
    resetAfter: number = Number.POSITIVE_INFINITY,
  ) {
    this.#resetAfter = toNanoseconds(resetAfter);
    this.#strategy = strategy;
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  /** The source, whose runs have a duration. */
  timed<T>(source: Observable<T>): Observable<T> {
    return defer(() => {
      this.#runStart = this.#clock.monotonic();
      return source;
    });
  }

  /** Resets the state at the end of this run. Called for each value, so it must be cheap. */
  succeed(): void {
    this.#succeeded = true;
  }

  endRun(): Progress {
    const now = this.#clock.monotonic();
    if (this.#succeeded || toNanoseconds(now - this.#runStart) >= this.#resetAfter) {
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
