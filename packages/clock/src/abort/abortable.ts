import { deferred } from "../internal/deferred.ts";
import { onAbort } from "./on-abort.ts";

const ignore = (): void => {};

/**
 * Waits for `work`, but only until `signal` aborts: then rejects with `signal.reason` at once. `work` is not
 * called if the signal has aborted already. A value that arrives after the abort goes to `onLate`, a later
 * error is ignored.
 *
 * Neither an async function nor a callback stands between `work` and the result, so that the stack of an
 * error of `work` shows the callers, and no frame of this function (ADR 0042).
 */
export function abortable<Value>(
  work: (signal: AbortSignal) => Value | PromiseLike<Value>,
  signal: AbortSignal,
  onLate?: (value: Value) => unknown,
): Promise<Value> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise: abort, reject } = deferred<never>();
  const subscription = onAbort(signal, reject);
  const result = promiseOf(() => work(signal));
  return Promise.race([abort, result]).finally(() => {
    subscription[Symbol.dispose]();
    if (!signal.aborted) return;
    void result.then(onLate, ignore);
    throw signal.reason; // another listener may have hidden the abort from `onAbort`
  });
}

/** The promise of the work itself: the stack of an error made before another promise follows it has no callers. */
export function promiseOf<Value>(work: () => Value | PromiseLike<Value>): Promise<Value> {
  try {
    return Promise.resolve<unknown>(work()) as Promise<Value>;
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}
