import { BaseClock, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { simulatedTime } from "@holdfast/clock/internal";

/** The clock of a replica: time goes on after its crash, and its timers do not. */
export class ReplicaClock extends BaseClock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #hasCrashed = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;

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
    const wait = Math.max(delay, this.#pausedUntil - this.monotonic());
    const timer = this.#clock.afterFunc(wait, ring, options);
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

  /** Time goes on, and no timer fires: those that are due meanwhile fire at the end, in their order. */
  pause(duration: number): void {
    this.#pausedUntil = this.monotonic() + duration;
    const due = [...this.#timers].filter(
      ({ active, deadline }) => active && deadline < this.#pausedUntil,
    );
    for (const timer of due.toSorted((one, other) => one.deadline - other.deadline))
      timer.reset(duration);
  }
}
