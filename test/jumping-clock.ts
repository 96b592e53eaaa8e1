import { BaseClock, type Timer, type TimerOptions } from "@holdfast/clock";
import type { FakeClock } from "@holdfast/clock/testing";

/** A clock that jumps before timers fire, as for a process that was stopped and continued. */
export class JumpingClock extends BaseClock {
  readonly #base: FakeClock;
  #jump = 0;

  constructor(base: FakeClock) {
    super();
    this.#base = base;
  }
  standStill(time: number): void {
    this.#jump += time;
  }
  override now(): number {
    return this.#base.now() + this.#jump;
  }
  override monotonic(): number {
    return this.#base.monotonic() + this.#jump;
  }
  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return this.#base.afterFunc(delay, fire, options);
  }
}
