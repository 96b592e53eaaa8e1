import { onAbort } from "./on-abort.ts";

/** An `AbortController` that also aborts with other signals, and their reason, until it is disposed. */
export class LinkedController extends AbortController implements Disposable {
  readonly #subscriptions: Disposable[];

  constructor(...signals: readonly AbortSignal[]) {
    super();
    this.#subscriptions = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}
