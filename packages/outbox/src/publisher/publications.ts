import { onAbort } from "@holdfast/clock";
import { abortable } from "@holdfast/clock/internal";

/** The publications of a publisher. Each ends with its own signal, and all when the publisher ends. */
export class Publications {
  readonly #end = new AbortController();

  /** Aborts when the publisher ends. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /**
   * Runs a publication until it settles or is aborted, and rejects at once with the reason.
   *
   * @param publish - receives a signal that aborts with either
   */
  async run(publish: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const own = new AbortController();
    const abort = (reason: unknown): void => own.abort(reason);
    const subscriptions = [onAbort(signal, abort), onAbort(this.#end.signal, abort)];
    try {
      await abortable(publish, own.signal);
    } finally {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    }
  }

  /** Rejects publications that have not settled, and those that come later. */
  end(reason: unknown = new Error("publisher is closed")): void {
    this.#end.abort(reason);
  }
}
