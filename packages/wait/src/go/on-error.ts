import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  isStop,
  type Kinds,
  loopClock,
  read,
  requireAnswer,
  requireFunction,
} from "@holdfast/kit";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import { conditionLoop } from "./condition-loop.ts";
import { Attempts } from "./exponential-backoff.ts";
import { isInterrupted } from "./is-interrupted.ts";

export const ON_ERROR_OPTIONS: Kinds<OnErrorOptions> = {
  signal: abortSignal,
  clock: loopClock,
};

/** Options for {@link onError} and {@link retryOnConflict}. */
export interface OnErrorOptions {
  /**
   * Ends the call early: it rejects with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Calls `fn` at most `steps` times, with growing delays between the calls, until it succeeds or fails
 * with an error that is not `retriable`.
 *
 * | Event | Result |
 * | --- | --- |
 * | `fn` returns or resolves | resolves with the value |
 * | `fn` fails with a retriable error | waits for the next delay, then calls `fn` again |
 * | the last call fails with a retriable error | rejects with the error unchanged |
 * | `fn` fails with another error | rejects with the error unchanged at once |
 * | {@link isInterrupted} is true for that error, and a retriable one came before | rejects with the last retriable error |
 * | `retriable` throws | rejects with that error |
 * | `steps` is 0 | rejects with an {@link ExhaustedError}; `fn` is not called |
 * | `signal` aborts | as in {@link exponentialBackoff}: rejects with `signal.reason` |
 *
 * @param backoff - the delays; `steps` is also the maximum number of calls. See {@link DefaultRetry}
 * and {@link DefaultBackoff}
 * @param retriable - whether an error is worth another call
 * @param fn - the work; receives the signal and should settle soon after it aborts
 * @param options - see {@link OnErrorOptions}
 * @returns a promise of the value of `fn`; bad arguments reject it with a RangeError or TypeError
 *
 * @remarks
 * The surprises of Go are kept: `cap` ends the attempts, as in {@link exponentialBackoff}. Use it to
 * port Go code; otherwise prefer `retry`.
 *
 * Source: `OnError` of k8s.io/client-go/util/retry. In Go `fn` has no value, and the wait cannot be
 * aborted (kubernetes/kubernetes#136650).
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { DefaultBackoff, onError } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * let calls = 0;
 * const read = () => {
 *   if (++calls < 3) throw new Error("connection reset");
 *   return "data";
 * };
 * const isReset = (error: unknown) => /reset/.test(String(error));
 * const data = await clock.run(() => onError(DefaultBackoff, isReset, read, { clock }));
 * console.log(data, calls); // => data 3
 * ```
 */
export async function onError<Value>(
  backoff: BackoffOptions,
  retriable: (error: unknown) => boolean,
  fn: (signal: AbortSignal) => Value | PromiseLike<Value>,
  options: OnErrorOptions = {},
): Promise<Value> {
  requireFunction("retriable", retriable);
  requireFunction("fn", fn);
  const { signal = new AbortController().signal, clock = realClock } = read(
    "options",
    options,
    "onError",
    ON_ERROR_OPTIONS,
  );
  let last: { readonly error: unknown } | undefined;
  let value: Value | undefined;
  const succeeds = async (own: AbortSignal): Promise<boolean> => {
    if (!attempts.mayAsk()) return false;
    try {
      value = await fn(own);
      return true;
    } catch (error) {
      if (!requireAnswer("retriable(error)", retriable(error))) throw error;
      last = { error };
      return false;
    }
  };
  const attempts = new Attempts(backoff, clock);
  try {
    await conditionLoop({ condition: succeeds, manager: attempts, signal, onError: undefined });
    return value as Value;
  } catch (error) {
    const isAbort = signal.aborted && isStop(error, signal);
    throw last !== undefined && !isAbort && isInterrupted(error) ? last.error : error;
  }
}

/**
 * Delays for a conflict with a single other change of the object: five calls, 10 ms apart.
 *
 * Source: `DefaultRetry` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { DefaultRetry } from "@holdfast/wait/go";
 *
 * console.log(DefaultRetry); // => { duration: 10, factor: 1, jitter: 0.1, steps: 5 }
 * ```
 */
export const DefaultRetry: BackoffOptions = Object.freeze({
  duration: 10,
  factor: 1,
  jitter: 0.1,
  steps: 5,
});

/**
 * Delays for conflicts with a client that changes the object constantly: four calls, with delays of 10,
 * 50 and 250 ms.
 *
 * Source: `DefaultBackoff` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { DefaultBackoff } from "@holdfast/wait/go";
 *
 * console.log(DefaultBackoff); // => { duration: 10, factor: 5, jitter: 0.1, steps: 4 }
 * ```
 */
export const DefaultBackoff: BackoffOptions = Object.freeze({
  duration: 10,
  factor: 5,
  jitter: 0.1,
  steps: 4,
});
