import { requireFunction, requireSignal } from "@holdfast/kit";

import { AbortCallback, AbortList } from "./abort-list.ts";

/** Calls back from its own abort event, so that the platform reports an error like that of any listener. */
export function callNow(callback: () => void): void {
  const controller = new AbortController();
  AbortList.of(controller.signal).add(new AbortCallback(callback));
  controller.abort();
}

/**
 * Calls `callback` when `signal` aborts, through the one listener that this library has on that signal.
 *
 * `signal.addEventListener("abort", …)` is quadratic in the number of listeners, prints
 * `MaxListenersExceededWarning` on Node 20 from the eleventh on, and leaks when not removed. `onAbort`
 * is linear and prints nothing. Callbacks run in the order they were added. An error thrown by a
 * callback becomes an uncaught exception after all others have run, also if the signal is already
 * aborted. Several errors become one `AggregateError`.
 *
 * Another listener cannot hide the abort with `stopImmediatePropagation()`. Where the platform has neither
 * Node's `events.addAbortListener` nor `AbortSignal.any`, as browsers before 2024, the callbacks then run
 * when a sleep on the same signal next wakes.
 *
 * @param signal - the signal to listen to
 * @param callback - called once with `signal.reason`; called before this function returns if the
 * signal has aborted already
 * @returns an object that removes the callback when disposed; a second disposal does nothing
 * @throws TypeError if an argument is of the wrong type
 *
 * @example
 * ```ts
 * import { onAbort } from "@holdfast/clock";
 *
 * const stop = new AbortController();
 * const subscription = onAbort(stop.signal, (reason) => console.log("first:", reason));
 * onAbort(stop.signal, (reason) => console.log("second:", reason));
 * subscription[Symbol.dispose]();
 * stop.abort("bye"); // => second: bye
 * ```
 */
export function onAbort(signal: AbortSignal, callback: (reason: unknown) => void): Disposable {
  requireSignal("signal", signal);
  requireFunction("callback", callback);
  const waiter = new AbortCallback(callback);
  if (signal.aborted) callNow(() => callback(signal.reason));
  else AbortList.of(signal).add(waiter);
  return waiter;
}
