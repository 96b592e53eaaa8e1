import { type Clock, onAbort } from "@holdfast/clock";
import { TimeoutError } from "./timeout-error.ts";

/** How long a piece of work is waited for. */
export interface Limits {
  /** Has not aborted yet. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Milliseconds, above 0 and finite. */
  readonly timeout: number;
}

/**
 * What `work` comes to, unless the signal it was given aborts first: then rejects at once with the
 * reason, and nobody hears of what `work` comes to.
 */
export function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const subscription = onAbort(signal, reject);
    const leave = () => subscription[Symbol.dispose]();
    void work.then(resolve, reject).finally(leave);
  });
}

/**
 * What `work` comes to, unless the time is up or the signal aborts first: then rejects at once, the
 * signal that `work` was given aborts for the same reason, and nobody hears of what it comes to.
 *
 * @param last - has the cause of the timeout, if there is one when it comes
 */
export function within<Value>(
  { signal, clock, timeout }: Limits,
  last: ErrorOptions,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  // Not by `unlessAborted` and a `deadlineSignal`: to listen to the signal that was made here would
  // double what an attempt with a time limit costs.
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (reason: unknown): void => {
      leave();
      reject(reason);
      controller.abort(reason);
    };
    const expire = () => giveUp(new TimeoutError(timeout, last));
    const timer = clock.afterFunc(timeout, expire, { label: "timeout" });
    const subscription = onAbort(signal, giveUp);
    const leave = (): void => {
      timer.stop();
      subscription[Symbol.dispose]();
    };
    void work(controller.signal).then(resolve, reject).finally(leave);
  });
}
