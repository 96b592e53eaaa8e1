import { onAbort } from "./on-abort.ts";

/**
 * An `AbortController` that also aborts with other signals, and their reason, until it is disposed.
 *
 * `AbortSignal.any` leaves something on each signal for as long as that signal lives. A disposed
 * controller leaves nothing.
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
export class LinkedController extends AbortController implements Disposable {
  readonly #subscriptions: Disposable[];

  /**
   * @param signals - the signals to follow
   * @throws TypeError if one of them is no `AbortSignal`
   */
  constructor(...signals: readonly AbortSignal[]) {
    super();
    this.#subscriptions = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  /** Follows the signals no longer. */
  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}
