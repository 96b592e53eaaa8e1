import { BaseClock, type Timer, type TimerOptions } from "@holdfast/clock";
import type { FakeClock } from "@holdfast/clock/testing";

/**
 * A clock that jumps before timers fire, as for a process that was stopped and continued, or whose wall clock alone does, as
 * on a machine that was suspended.
 */
export class JumpingClock extends BaseClock {
  readonly #base: FakeClock;
  #jump = 0;
  #suspended = 0;

  constructor(base: FakeClock) {
    super();
    this.#base = base;
  }
  standStill(time: number): void {
    this.#jump += time;
  }
  suspend(time: number): void {
    this.#suspended += time;
  }
  override now(): number {
    return this.#base.now() + this.#jump + this.#suspended;
  }
  override monotonic(): number {
    return this.#base.monotonic() + this.#jump;
  }
  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return this.#base.afterFunc(delay, fire, options);
  }
}
