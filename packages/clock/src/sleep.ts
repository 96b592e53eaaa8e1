import { AbortList, AbortWaiter } from "./abort/abort-list.ts";
import type { Timer } from "./clock.ts";

/** A sleep that its timer or its signal ends, whichever comes first. */
export class Sleep extends AbortWaiter {
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #timer!: Timer;

  constructor(resolve: () => void, reject: (reason: unknown) => void) {
    super();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** @param timer - calls {@link Sleep.wake}, or has done so already */
  start(timer: Timer, signal: AbortSignal): void {
    this.#timer = timer;
    if (timer.active) AbortList.of(signal).add(this);
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
