import type { Clock, Timer } from "@holdfast/clock";
import { requireMethods } from "@holdfast/clock/internal";

/** The one timer of a manager: made at its first use, reset at every other. */
export class RearmedTimer {
  readonly #clock: Clock;
  #timer: Timer | undefined = undefined;

  constructor(name: string, clock: Clock) {
    requireMethods(name, clock, ["monotonic", "newTimer"]);
    this.#clock = clock;
  }

  arm(delay: number): Timer {
    if (this.#timer === undefined) this.#timer = this.#clock.newTimer(delay, { label: "backoff" });
    else this.#timer.reset(delay);
    return this.#timer;
  }
}
