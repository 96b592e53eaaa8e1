import type { Clock, Timer } from "@holdfast/clock";
import { Grid } from "@holdfast/clock/internal";
import type { BackoffManager } from "./backoff-manager.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { rearmedTimer } from "./rearmed-timer.ts";

/**
 * Delays that end at the points of a grid which starts with the first call: however late each call
 * comes, the next delay makes up for it. Points that are past are skipped.
 */
export class GridManager implements BackoffManager {
  readonly #clock: Clock;
  readonly #arm: (delay: number) => Timer;
  readonly #period: number;
  /** What is added to each delay, without moving the grid. */
  readonly #extra: DelayFunc;
  #grid: Grid | undefined = undefined;

  constructor(clock: Clock, period: number, extra: DelayFunc) {
    this.#clock = clock;
    this.#arm = rearmedTimer("options.clock", clock);
    this.#period = period;
    this.#extra = extra;
  }

  backoff(): Timer {
    const now = this.#clock.monotonic();
    const left = this.#grid?.next(now) ?? this.#period;
    this.#grid ??= new Grid(now, this.#period);
    return this.#arm(left + this.#extra());
  }
}
