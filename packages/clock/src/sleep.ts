import { AbortList, AbortWaiter } from "./abort-list.ts";
import type { Timer } from "./clock.ts";

/** A sleep that a signal can end: it waits in two places and leaves both, whichever wakes it. */
export class Sleep extends AbortWaiter {
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #timer!: Timer;

  constructor(resolve: () => void, reject: (reason: unknown) => void) {
    super();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** `timer` is to call {@link Sleep.wake}. */
  start(timer: Timer, signal: AbortSignal): void {
    this.#timer = timer;
    AbortList.of(signal).add(this);
  }

  wake(): void {
    this.leave();
    this.#resolve();
  }

  override onAbort(reason: unknown): void {
    this.#timer.stop();
    this.#reject(reason);
  }
}
