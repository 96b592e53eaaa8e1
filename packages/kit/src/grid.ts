import { type LoopClock, measuresTimers } from "./event-loop.ts";

const HALF_NANOSECOND = 0.5e-6;
const MICROSECOND = 1e-3;

/**
 * The points `start + period`, `start + 2 × period` and so on, for a timer that moves from point to
 * point.
 */
export class Grid {
  readonly period: number;
  readonly #clock: LoopClock;
  #start: number;
  #point = 1;

  /** A grid that starts now. */
  constructor(clock: LoopClock, period: number) {
    this.#clock = clock;
    this.#start = clock.monotonic();
    this.period = period;
  }

  /** The number of the point that the timer is set to; the first is 1. */
  get point(): number {
    return this.#point;
  }

  /**
   * Moves to the next point that is not in the past.
   *
   * @returns the milliseconds from `now` to that point. On a clock that does not measure its timers,
   * the grid moves so that the result is one period. A timer more than 1 ms early belongs to a fake
   * that cannot be detected: the result is then one period, too
   */
  next(now: number): number {
    if (!measuresTimers(this.#clock)) {
      this.#start = now - this.#point * this.period;
      this.#point++;
      return this.period;
    }
    const early = this.#timeTo(this.#point, now);
    const passed = Math.floor((now - this.#start) / this.period);
    this.#point = Math.max(this.#point, passed) + 1;
    if (this.#timeTo(this.#point, now) <= this.#rounding(now)) this.#point++;
    return early > 1 ? this.period : this.#timeTo(this.#point, now);
  }

  /**
   * How early a point counts as reached. A clock that rounds to nanoseconds can be half a nanosecond
   * early, or more where doubles are coarser. Work that lasts several periods adds a rounding error for
   * each of its sleeps.
   */
  #rounding(now: number): number {
    const ofWork = Math.min(MICROSECOND, this.period / 1_000);
    return Math.max(HALF_NANOSECOND, ofWork, now * Number.EPSILON);
  }

  #timeTo(point: number, now: number): number {
    return this.#start + point * this.period - now;
  }
}
