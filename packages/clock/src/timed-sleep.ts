import { AbortList } from "./abort-list.ts";
import type { Timer } from "./clock.ts";
import { Sleep } from "./sleep.ts";

/** A sleep with a timer of its own. */
export class TimedSleep extends Sleep {
  #timer!: Timer;

  /** `timer` is to call {@link Sleep.wake}, if it has not done so while it was made. */
  start(timer: Timer, signal: AbortSignal): void {
    this.#timer = timer;
    if (timer.active) AbortList.of(signal).add(this);
  }

  protected override cancel(): void {
    this.#timer.stop();
  }
}
