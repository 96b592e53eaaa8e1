/**
 * The points `start + period`, `start + 2 × period` and so on, for a timer that is set to one after
 * the other.
 */
export class Grid {
  readonly period: number;
  readonly #start: number;
  #point = 1;

  constructor(start: number, period: number) {
    this.#start = start;
    this.period = period;
  }

  /** Which point the timer is set to. The first is 1. */
  get point(): number {
    return this.#point;
  }

  /**
   * Goes on to the next point that is not past, however late the timer has fired.
   *
   * @returns how long from `now` until then. A timer more than 1 ms early is a fake one, whose time
   * `now` does not know: the next point is then a period away
   */
  next(now: number): number {
    const early = this.#timeTo(this.#point, now);
    const passed = Math.floor((now - this.#start) / this.period);
    this.#point = Math.max(this.#point, passed) + 1;
    return early > 1 ? this.period : this.#timeTo(this.#point, now);
  }

  #timeTo(point: number, now: number): number {
    return this.#start + point * this.period - now;
  }
}
