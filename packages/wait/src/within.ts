import { type Clock, onAbort } from "@holdfast/clock";
import type { Done } from "./loop.ts";
import { TimeoutError } from "./timeout-error.ts";

/** How long a piece of work is waited for. */
export interface Limits {
  /** Has not aborted yet. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Milliseconds, above 0; `Infinity` arms no timer. */
  readonly timeout: number;
  /** What the error of a timeout is to carry, asked for when the time is up. */
  readonly facts: () => ErrorOptions | undefined;
}

/** Work that has a value, or undefined if it was stopped by the signal it was given. */
type Work<Value> = Promise<Done<Value> | undefined>;

/**
 * The value of `work`, unless the signal it was given aborts first: then rejects at once with the
 * reason, and nobody hears of what `work` comes to.
 */
export function unlessAborted<Value>(signal: AbortSignal, work: Work<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const subscription = onAbort(signal, reject);
    const leave = () => subscription[Symbol.dispose]();
    void work.then(whenDone(resolve), reject).finally(leave);
  });
}

/**
 * The value of `work`, unless the time is up or the signal aborts first: then rejects at once, the
 * signal that `work` was given aborts for the same reason, and nobody hears of what it comes to.
 */
export function within<Value>(
  { signal, clock, timeout, facts }: Limits,
  work: (signal: AbortSignal) => Work<Value>,
): Promise<Value> {
  if (timeout === Number.POSITIVE_INFINITY) return unlessAborted(signal, work(signal));
  // Not by `unlessAborted` and a `deadlineSignal`: to listen to the signal that was made here would
  // double what an attempt with a time limit costs.
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (reason: unknown): void => {
      leave();
      reject(reason);
      controller.abort(reason);
    };
    const expire = () => giveUp(new TimeoutError(timeout, facts()));
    const timer = clock.afterFunc(timeout, expire, { label: "timeout" });
    const subscription = onAbort(signal, giveUp);
    const leave = (): void => {
      timer.stop();
      subscription[Symbol.dispose]();
    };
    void work(controller.signal).then(whenDone(resolve), reject).finally(leave);
  });
}

/** Passes a value on. Where there is none, the abort that stopped the work has been heard already. */
function whenDone<Value>(resolve: (value: Value) => void) {
  return (done: Done<Value> | undefined): void => {
    if (done !== undefined) resolve(done.value);
  };
}
