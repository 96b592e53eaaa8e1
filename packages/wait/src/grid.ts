import type { Clock, Timer } from "@holdfast/clock";
import type { BackoffManager } from "./backoff-manager.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { rearmedTimer } from "./rearmed-timer.ts";

/**
 * Delays that end at `start + period`, `start + 2 × period` and so on, the start being the first
 * call: however late each call comes, the next delay makes up for it. Points that are past are
 * skipped. A call that is more than 1 ms early follows a fake timer, whose time the clock does not
 * know: the next delay is then a period.
 */
export class Grid implements BackoffManager {
  readonly #clock: Clock;
  readonly #arm: (delay: number) => Timer;
  readonly #period: number;
  /** What is added to each delay, without moving the grid. */
  readonly #extra: DelayFunc;
  #start = Number.NaN;
  /** The point of the grid that the timer is set to. */
  #index = 0;

  constructor(clock: Clock, period: number, extra: DelayFunc) {
    this.#clock = clock;
    this.#arm = rearmedTimer("options.clock", clock);
    this.#period = period;
    this.#extra = extra;
  }

  backoff(): Timer {
    const now = this.#clock.monotonic();
    if (this.#index === 0) this.#start = now;
    const early = this.#start + this.#index * this.#period - now;
    const passed = Math.floor((now - this.#start) / this.#period);
    this.#index = Math.max(this.#index, passed) + 1;
    const left = this.#start + this.#index * this.#period - now;
    return this.#arm((early > 1 ? this.#period : left) + this.#extra());
  }
}
