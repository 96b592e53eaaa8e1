import type { Clock, Timer } from "@holdfast/clock";
import type { BackoffManager } from "./backoff-manager.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import { rearmedTimer } from "./rearmed-timer.ts";

/**
 * The beat of a ticker: each delay ends at the next whole multiple of the interval, counted from the
 * first. Whoever comes late meets the beat again; what was missed is not made up for.
 */
export class TickingManager implements BackoffManager {
  readonly #clock: Clock;
  readonly #arm: (delay: number) => Timer;
  readonly #interval: number;
  #start: number | undefined = undefined;

  /** @param interval - milliseconds, at least 0; 0 never waits */
  constructor(interval: number, clock: Clock) {
    this.#clock = clock;
    this.#arm = rearmedTimer("options.clock", clock);
    this.#interval = toNanoseconds(interval);
  }

  backoff(): Timer {
    const now = this.#clock.monotonic();
    this.#start ??= now;
    const interval = this.#interval;
    const into = interval === 0 ? 0 : toNanoseconds(now - this.#start) % interval;
    return this.#arm(toMilliseconds(interval - into));
  }
}
