import { BaseClock, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
import { toNanoseconds } from "./nanoseconds.ts";

/** One arming of a timer, in nanoseconds from the clock's start. */
export type Arming = {
  readonly at: bigint;
  readonly op: "new" | "reset";
  readonly d: bigint;
  /** What `reset` returned. */
  readonly wasActive?: boolean;
};

/** A clock that writes down how its timers are armed, and is otherwise the one it is given. */
export class RecordingClock extends BaseClock {
  readonly armings: Arming[] = [];
  readonly #inner: Clock;
  readonly #start: number;

  constructor(inner: Clock) {
    super();
    this.#inner = inner;
    this.#start = inner.monotonic();
  }

  override now(): number {
    return this.#inner.now();
  }

  override monotonic(): number {
    return this.#inner.monotonic();
  }

  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return this.#inner.afterFunc(delay, fire, options);
  }

  override newTimer(delay: number, options?: TimerOptions): Timer {
    this.armings.push({ at: this.elapsed(), op: "new", d: toNanoseconds(delay) });
    return this.#recording(this.#inner.newTimer(delay, options));
  }

  /** Nanoseconds since this recording began. */
  elapsed(): bigint {
    return toNanoseconds(this.#inner.monotonic() - this.#start);
  }

  #recording(timer: Timer): Timer {
    const reset = (delay: number): boolean => {
      const wasActive = timer.reset(delay);
      this.armings.push({ at: this.elapsed(), op: "reset", d: toNanoseconds(delay), wasActive });
      return wasActive;
    };
    return {
      reset,
      stop: () => timer.stop(),
      get active() {
        return timer.active;
      },
      get deadline() {
        return timer.deadline;
      },
      get fired() {
        return timer.fired;
      },
      [Symbol.dispose]: () => timer.stop(),
    };
  }
}
