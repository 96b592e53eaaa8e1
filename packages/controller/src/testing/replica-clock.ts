import { BaseClock, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { simulatedTime } from "@holdfast/clock/internal";

/** The clock of a replica: time goes on after its crash, and its timers do not. */
export class ReplicaClock extends BaseClock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #hasCrashed = false;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
    Object.defineProperty(this, simulatedTime, { value: true });
  }

  override now(): number {
    return this.#clock.now();
  }

  override monotonic(): number {
    return this.#clock.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    const ring = (): void => {
      if (!this.#hasCrashed) fire();
    };
    const timer = this.#clock.afterFunc(delay, ring, options);
    if (this.#hasCrashed) timer.stop();
    this.#timers.add(timer);
    return timer;
  }

  /** Stops all timers. No callback is called any more. */
  crash(): void {
    this.#hasCrashed = true;
    for (const timer of this.#timers) timer.stop();
    this.#timers.clear();
  }
}
