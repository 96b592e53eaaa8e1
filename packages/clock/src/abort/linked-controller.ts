import { AbortList } from "./abort-list.ts";
import { callNow, onAbort } from "./on-abort.ts";

/**
 * An `AbortController` that also aborts with other signals, and their reason, until it is disposed.
 *
 * It ends the waits on its signal itself, without a listener, and has {@link LinkedController.waits} before it has a
 * signal: Node makes the signal of a controller when it is first read, and both cost more than a wait.
 */
export class LinkedController extends AbortController implements Disposable {
  readonly waits: AbortList = new AbortList(this);
  readonly #subscriptions: Disposable[];
  #signal: AbortSignal | undefined = undefined;
  #state: "open" | "aborted" = "open";

  constructor(...signals: readonly AbortSignal[]) {
    super();
    this.#subscriptions = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  override get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = super.signal;
      AbortList.of(this.#signal, this.waits);
    }
    return this.#signal;
  }

  get aborted(): boolean {
    return this.#state === "aborted";
  }

  /** The reason of the abort. */
  get reason(): unknown {
    return this.signal.reason;
  }

  override abort(reason?: unknown): void {
    if (this.aborted) return;
    this.#state = "aborted";
    super.abort(reason);
    try {
      this.waits.notify();
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
