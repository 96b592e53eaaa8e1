import { abortable, LinkedController } from "@holdfast/clock";

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
    using own = new LinkedController(signal, this.#end.signal);
    await abortable(publish, own.signal);
  }

  /** Rejects publications that have not settled, and those that come later. */
  end(reason: unknown = new Error("publisher is closed")): void {
    this.#end.abort(reason);
  }
}
