import { AbortList, AbortWaiter } from "./abort/abort-list.ts";
import type { Timer } from "./clock.ts";

/** A sleep that its timer or its signal ends, whichever comes first. */
export class Sleep extends AbortWaiter {
  readonly #signal: AbortSignal;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #timer!: Timer;

  constructor(signal: AbortSignal, resolve: () => void, reject: (reason: unknown) => void) {
    super();
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** @param timer - calls {@link Sleep.wake}, or has done so already */
  start(timer: Timer): void {
    this.#timer = timer;
    if (timer.active) AbortList.of(this.#signal).add(this);
  }

  /** Ends the sleep at its deadline, or with an abort that another listener hid from the list. */
  wake(): void {
    this[Symbol.dispose]();
    if (this.#signal.aborted) {
      this.#reject(this.#signal.reason);
      AbortList.of(this.#signal).notify();
    } else {
      this.#resolve();
    }
  }

  override onAbort(reason: unknown): void {
    this.#timer.stop();
    this.#reject(reason);
  }
}
