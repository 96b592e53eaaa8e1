import { AbortList } from "./abort-list.ts";
import { callNow, onAbort } from "./on-abort.ts";

/**
 * A controller that also aborts with other signals, and their reason, until it is disposed.
 *
 * `AbortSignal.any` leaves something on each signal for as long as that signal lives. A disposed
 * controller leaves nothing. It makes its signal when that is first read: a wait that gets the controller, see
 * {@link abortable}, needs none.
 *
 * @example
 * ```ts
 * import { LinkedController } from "@holdfast/clock";
 *
 * const stop = new AbortController();
 * using request = new LinkedController(stop.signal);
 * stop.abort("closing");
 * console.log(request.signal.aborted, request.signal.reason); // => true closing
 * ```
 */
export class LinkedController implements Disposable {
  /** What waits for it, without a listener. */
  readonly #list = new AbortList();
  readonly #subscriptions: readonly Disposable[];
  #controller: AbortController | undefined = undefined;
  #state: "open" | "aborted" = "open";
  #reason: unknown = undefined;

  /**
   * @param signals - the signals to follow
   * @throws TypeError if one of them is no `AbortSignal`
   */
  constructor(...signals: readonly AbortSignal[]) {
    this.#subscriptions = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  /** Aborts with this controller. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      AbortList.of(this.#controller.signal, this.#list);
      if (this.aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether it has aborted. */
  get aborted(): boolean {
    return this.#state === "aborted";
  }

  /** The reason of its abort. */
  get reason(): unknown {
    return this.#reason;
  }

  /**
   * Aborts; a second call does nothing.
   *
   * @param reason - default: a `DOMException` with the name `AbortError`
   */
  abort(reason: unknown = new DOMException("This operation was aborted", "AbortError")): void {
    if (this.aborted) return;
    this.#state = "aborted";
    this.#reason = reason;
    this.#controller?.abort(reason);
    try {
      this.#list.notify(reason);
    } catch (error) {
      callNow(() => {
        throw error;
      });
    }
  }

  /**
   * The list of its waits, or that of a signal.
   *
   * @internal
   */
  static listOf(end: AbortSignal | LinkedController): AbortList {
    return end instanceof LinkedController ? end.#list : AbortList.of(end);
  }

  /** Follows the signals no longer. */
  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}
