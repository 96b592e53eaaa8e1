import type { Clock } from "@holdfast/clock";
import { requireFunction, requireOptions } from "@holdfast/clock/internal";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import { exponentialBackoff } from "./exponential-backoff.ts";
import { isInterrupted } from "./is-interrupted.ts";

/** What {@link onError} and {@link retryOnConflict} can be told. */
export interface OnErrorOptions {
  /**
   * Ends the wait early: it rejects with `signal.reason`, the same object.
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
 * Calls `fn` at most `steps` times, with growing delays between the calls, as long as it fails with
 * an error that is `retriable`.
 *
 * | What happens | What `onError` does |
 * | --- | --- |
 * | `fn` returns or resolves | resolves with its value |
 * | `fn` fails with a retriable error | calls it again after the delay |
 * | that was its last call | rejects with that error itself |
 * | `fn` fails with another error | rejects with it at once |
 * | another error for which {@link isInterrupted} holds, after a retriable one | rejects with the retriable one |
 * | `retriable` throws | rejects with what it throws |
 * | `steps` is 0 | rejects with an {@link ExhaustedError}; never calls `fn` |
 * | `signal` aborts | as in {@link exponentialBackoff}; rejects with `signal.reason` itself |
 *
 * @param backoff - the delays; `steps` is also the largest number of calls. {@link DefaultRetry} and
 * {@link DefaultBackoff} are two
 * @param retriable - decides whether an error is worth another call
 * @param fn - the work. It receives the signal and should give up soon after it aborts
 * @param options - see {@link OnErrorOptions}
 * @returns the value of `fn`; bad arguments reject with a RangeError or TypeError
 *
 * @remarks
 * Kept from Go, surprises included: `cap` ends the attempts, as in {@link exponentialBackoff}. New
 * code that is no port is better off with `retry`.
 *
 * Source: `OnError` of k8s.io/client-go/util/retry. There `fn` has no value, and the wait cannot be
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
  requireOptions("options", options);
  const { signal, clock } = options;
  let last: { readonly error: unknown } | undefined;
  let value: Value | undefined;
  const succeeds = async (told: AbortSignal): Promise<boolean> => {
    try {
      value = await fn(told);
      return true;
    } catch (error) {
      if (!retriable(error)) throw error;
      last = { error };
      return false;
    }
  };
  try {
    await exponentialBackoff(succeeds, { backoff, signal, clock });
    return value as Value;
  } catch (error) {
    const isAbort = signal?.aborted === true && Object.is(error, signal.reason);
    throw last !== undefined && !isAbort && isInterrupted(error) ? last.error : error;
  }
}
