import type { Timer, TimerOptions } from "../clock.ts";
import { requireFinite } from "../internal/arguments.ts";
import { BaseTestClock, STALL_LIMITS } from "../testing/base-test-clock.ts";
import type { FakeTimersClock } from "./fake-timers-clock.ts";
import { FakedTime } from "./faked-time.ts";
import { FakedTimer } from "./faked-timer.ts";

/** The test clock over a clock of @sinonjs/fake-timers. */
export class FakedClock extends BaseTestClock {
  readonly #clock: FakeTimersClock;
  readonly #time: FakedTime;

  constructor(clock: FakeTimersClock) {
    const time = new FakedTime(clock);
    super(time, STALL_LIMITS);
    this.#clock = clock;
    this.#time = time;
  }

  override now(): number {
    return this.#clock.now;
  }

  protected override arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    const timer = new FakedTimer(this.#time, fire, options);
    timer.reset(delay);
    return timer;
  }

  override setSystemTime(instant: number): void {
    this.#clock.setSystemTime(Math.floor(requireFinite("instant", instant)));
  }
}
