import type { Timer } from "./clock.ts";
import { Sleep } from "./sleep.ts";

/** A sleep with a timer of its own. */
export class TimedSleep extends Sleep {
  #timer!: Timer;

  /** `timer` is to call {@link Sleep.wake}. */
  start(timer: Timer): this {
    this.#timer = timer;
    return this;
  }

  protected override cancel(): void {
    this.#timer.stop();
  }
}
