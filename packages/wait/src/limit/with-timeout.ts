import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  anything,
  func,
  type Kinds,
  loopClock,
  read,
  requireFunction,
  requireNotNegative,
  string,
} from "@holdfast/kit";
import { Deadline } from "./deadline.ts";

export const WITH_TIMEOUT_OPTIONS: Kinds<WithTimeoutOptions<never>> = {
  signal: abortSignal,
  clock: loopClock,
  label: anything,
  cause: func,
  message: string,
  onLate: func,
};

/** Options for {@link withTimeout}. */
export interface WithTimeoutOptions<Value> {
  /**
   * Ends the wait early: the promise rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures the timeout.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Name of the timer. Fake clocks print it when a test is stuck.
   *
   * @defaultValue `"timeout"`
   */
  readonly label?: string | undefined;

  /**
   * Supplies the `cause` of the {@link TimeoutError}: the last error of an earlier attempt, for
   * example. Called once, when the timeout expires. `undefined` means no cause.
   *
   * @defaultValue none
   */
  readonly cause?: (() => unknown) | undefined;

  /**
   * Message of the {@link TimeoutError}.
   *
   * @defaultValue `timed out after ${timeout} ms`
   */
  readonly message?: string | undefined;

  /**
   * Receives the value of `work` if it arrives after the promise has rejected. Release it here: no
   * other code sees it. An error it throws is an unhandled rejection.
   *
   * @defaultValue a late value is ignored
   */
  readonly onLate?: ((value: Value) => unknown) | undefined;
}

/**
 * Waits for `work`, but at most `timeout` milliseconds and only until `signal` aborts.
 *
 * | Event | Result |
 * | --- | --- |
 * | `work` settles in time | the same value or error |
 * | `work` throws synchronously | rejects with that error |
 * | the timeout expires | rejects with a {@link TimeoutError}, and aborts the signal of `work` with it |
 * | `signal` aborts | rejects with `signal.reason`, and aborts the signal of `work` with it |
 * | `signal` is already aborted | rejects with `signal.reason`; `work` is not called |
 * | `timeout` is 0 | rejects with a {@link TimeoutError}; `work` is not called |
 * | `work` resolves after the rejection | `onLate` receives the value |
 * | `work` rejects after the rejection | the error is ignored |
 *
 * The stack of the `TimeoutError` shows the code that waits. The reason of an abort stays as it is.
 *
 * The promise settles at once, whether or not `work` obeys its signal. No timer and no listener
 * remain. With a timeout of `Infinity` no timer is armed, and `work` receives `signal` itself.
 *
 * @param work - the work to wait for; receives the signal that ends it
 * @param timeout - milliseconds, at least 0, or `Infinity`
 * @param options - see {@link WithTimeoutOptions}
 * @returns a promise of the value of `work`; bad arguments reject it with a RangeError or TypeError
 *
 * Source: `context.WithTimeout` in Go, which also cancels the context it gives to the work.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { isTimeoutError, withTimeout } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const query = (signal: AbortSignal) => clock.sleep(60_000, { signal });
 * try {
 *   await clock.run(() => withTimeout(query, 5_000, { clock }));
 * } catch (error) {
 *   console.log(isTimeoutError(error), String(error));
 * }
 * // => true TimeoutError: timed out after 5000 ms
 * ```
 */
export async function withTimeout<Value>(
  work: (signal: AbortSignal) => Value | PromiseLike<Value>,
  timeout: number,
  options: WithTimeoutOptions<Value> = {},
): Promise<Value> {
  requireFunction("work", work);
  requireNotNegative("timeout", timeout);
  const given = read("options", options, "withTimeout", WITH_TIMEOUT_OPTIONS);
  const { signal: parent, clock = realClock, label, cause, message, onLate } = given;
  const deadline = new Deadline(timeout, { clock, signal: parent, label, cause, message });
  return await deadline.wait(work, deadline.signal, onLate);
}
