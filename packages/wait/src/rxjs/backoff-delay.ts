import { type Clock, realClock } from "@holdfast/clock";
import {
  type Kinds,
  MAX_RETRY_AFTER,
  methods,
  notNegative,
  read,
  requireWhole,
} from "@holdfast/kit";
import { type Observable, throwError } from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { RetryAfterError, withRetryAfter } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { timerOn } from "./timer-on.ts";

export const BACKOFF_DELAY_OPTIONS: Kinds<BackoffDelayOptions> = {
  maxRetryAfter: notNegative,
  clock: methods("afterFunc"),
};

/** Options for {@link backoffDelay}. */
export interface BackoffDelayOptions {
  /**
   * Maximum delay that a `RetryAfterError` may demand, in milliseconds. At least 0; `Infinity` is no
   * limit. The delays of the backoff stay as they are.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * The delays of a backoff for the `retry` operator of rxjs: `retry({ delay: backoffDelay(backoff) })`.
 *
 * The delay depends on the retry count alone: retry number `n` waits for delay number `n` of a new
 * sequence. So one notifier serves any number of subscriptions, and `resetOnSuccess` of `retry` also
 * resets the delays. For limits and hooks, use {@link retryBackoff}.
 *
 * | Event | Result |
 * | --- | --- |
 * | the source fails | waits for the delay, then `retry` subscribes again |
 * | it fails with a `RetryAfterError`, or an error caused by one | waits as long as it names, at least for the delay and at most for `maxRetryAfter` |
 * | it fails with a `TerminalError`, or a `RetryAfterError` that names `Infinity` | the stream fails with it at once |
 *
 * @param backoff - delays: a strategy, or the options of a `Backoff`
 * @param options - see {@link BackoffDelayOptions}
 * @returns the `delay` option of `retry`. An invalid count or delay is an error of the stream
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { backoffDelay } from "@holdfast/wait/rxjs";
 * import { defer, retry } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const tries: number[] = [];
 * const request = defer(async () => {
 *   tries.push(clock.monotonic() - start);
 *   if (tries.length < 4) throw new Error("503");
 *   return "ok";
 * });
 *
 * const delay = backoffDelay({ duration: 100, factor: 2 }, { clock });
 * request.pipe(retry({ count: 5, delay })).subscribe((answer) => console.log(answer));
 * await clock.step(1_000); // => ok
 * console.log(tries); // => [ 0, 100, 300, 700 ]
 * ```
 */
export function backoffDelay(
  backoff: BackoffStrategy | BackoffOptions,
  options: BackoffDelayOptions = {},
): (error: unknown, retryCount: number) => Observable<void> {
  const strategy = strategyOf("backoff", backoff);
  const { clock = realClock, maxRetryAfter = MAX_RETRY_AFTER } = read(
    "options",
    options,
    "backoffDelay",
    BACKOFF_DELAY_OPTIONS,
  );
  // Position of the last call: the next retry of a single subscription continues from here. Any other
  // count belongs to another subscription and starts a new sequence.
  let next = strategy.delayFunc();
  let taken = 0;
  return (error, retryCount) => {
    requireWhole("retryCount", retryCount, 1);
    if (isTerminalError(error) || RetryAfterError.delayOf(error) === Number.POSITIVE_INFINITY)
      return throwError(() => error);
    if (taken !== retryCount - 1) {
      next = strategy.delayFunc();
      for (taken = 0; taken < retryCount - 1; taken++) next();
    }
    taken++;
    return timerOn(clock, withRetryAfter(next(), error, maxRetryAfter));
  };
}
