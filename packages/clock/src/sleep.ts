import { AbortWaiter } from "./abort-list.ts";

/** A sleep that a signal can end: it waits in two places and leaves both, whichever wakes it. */
export abstract class Sleep extends AbortWaiter {
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;

  constructor(resolve: () => void, reject: (reason: unknown) => void) {
    super();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Its time has come. */
  wake(): void {
    this.leave();
    this.#resolve();
  }

  override onAbort(reason: unknown): void {
    this.cancel();
    this.#reject(reason);
  }

  /** Leaves what was to wake it. */
  protected abstract cancel(): void;
}
