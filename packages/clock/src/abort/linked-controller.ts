import { AbortList } from "./abort-list.ts";
import { callNow, onAbort } from "./on-abort.ts";

/**
 * As an `AbortController`, but it also aborts with other signals, and their reason, until it is disposed.
 *
 * It is the list of its waits, and ends them without a listener. It makes its signal when that is first read: each of the
 * two costs more than a wait.
 */
export class LinkedController extends AbortList implements Disposable {
  readonly #subscriptions: readonly Disposable[];
  #controller: AbortController | undefined = undefined;
  #state: "open" | "aborted" = "open";
  #reason: unknown = undefined;

  constructor(...signals: readonly AbortSignal[]) {
    super();
    this.#subscriptions = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  override get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      AbortList.of(this.#controller.signal, this);
      if (this.aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  override get aborted(): boolean {
    return this.#state === "aborted";
  }

  override get reason(): unknown {
    return this.#reason;
  }

  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    if (this.aborted) return;
    this.#state = "aborted";
    this.#reason = reason;
    this.#controller?.abort(reason);
    try {
      this.notify();
    } catch (error) {
      callNow(() => {
        throw error;
      });
    }
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}
