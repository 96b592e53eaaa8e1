import { AbortList } from "./abort-list.ts";
import type { Timer } from "./clock.ts";
import { Sleep } from "./sleep.ts";

/** A sleep with a timer of its own. */
export class TimedSleep extends Sleep {
  #timer!: Timer;

  /** `timer` is to call {@link Sleep.wake}. */
  start(timer: Timer, signal: AbortSignal): void {
    this.#timer = timer;
    AbortList.of(signal).add(this);
  }

  protected override cancel(): void {
    this.#timer.stop();
  }
}
