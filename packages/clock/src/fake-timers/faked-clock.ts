import { requireFinite } from "@holdfast/kit";
import type { Timer, TimerOptions } from "../clock.ts";
import { HostTimer } from "../host/host-timer.ts";
import { BaseTestClock, STALL_LIMITS } from "../testing/base-test-clock.ts";
import type { FakeTimersClock } from "./fake-timers-clock.ts";
import { FakedTime, type KnownTimer } from "./faked-time.ts";

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

/** A timer on faked globals that keeps its label and its exact deadline. */
class FakedTimer extends HostTimer implements KnownTimer {
  readonly label: string | undefined;
  readonly ref: boolean;
  readonly #time: FakedTime;

  constructor(time: FakedTime, fire: () => void, options: TimerOptions) {
    const ref = options.ref ?? true;
    super(time, fire, ref);
    this.label = options.label;
    this.ref = ref;
    this.#time = time;
  }

  protected override arm(delay: number): void {
    super.arm(delay);
    this.#time.add(this);
  }

  protected override disarm(): void {
    this.#time.remove(this);
    super.disarm();
  }

  protected override expire(): void {
    this.#time.noteFired(this);
    super.expire();
  }
}
