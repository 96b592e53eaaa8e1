import { onAbort } from "@holdfast/clock";

/**
 * Waits for something that cannot be stopped, and stops waiting when the signal aborts.
 *
 * @returns a promise that settles as `promise` does, or rejects at once with `signal.reason`; what
 * `promise` comes to later, nobody hears of
 */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const subscription = onAbort(signal, reject);
    const leave = (): void => subscription[Symbol.dispose]();
    promise.then(resolve, reject).then(leave, leave);
  });
}
