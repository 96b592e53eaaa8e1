import { type Clock, realClock } from "@holdfast/clock";
import { asScheduler } from "@holdfast/clock/rxjs";
import {
  abortSignal,
  type Kinds,
  MAX_RETRY_AFTER,
  methods,
  notNegative,
  parsed,
  read,
  requireAnswer,
  required,
  requireFunction,
} from "@holdfast/kit";
import {
  defer,
  first,
  identity,
  type MonoTypeOperatorFunction,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  retry,
  throwError,
  timer,
} from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { TimeoutError } from "../limit/timeout-error.ts";
import { RetryAfterError, withRetryAfter } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { endedBy } from "./ended-by.ts";
import { repeatBackoff } from "./repeat-backoff.ts";
import { timerOn } from "./timer-on.ts";

export const POLL_BACKOFF_OPTIONS: Kinds<PollBackoffOptions> = {
  backoff: required(parsed("backoff")),
  timeout: notNegative,
  maxRetryAfter: notNegative,
  signal: abortSignal,
  clock: methods("now", "monotonic", "afterFunc"),
};

/** Options for {@link pollBackoff}. */
export interface PollBackoffOptions {
  /** Delays: a strategy, or the options of a `Backoff`. */
  readonly backoff: BackoffStrategy | BackoffOptions;

  /**
   * Time limit of the whole poll, in milliseconds. At least 0, or `Infinity`. When it expires, the
   * stream fails with a `TimeoutError`, during a delay or a subscription to the source.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Maximum delay that a `RetryAfterError` may demand, in milliseconds. At least 0; `Infinity` is no
   * limit. The delays of the backoff stay as they are.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Ends the stream: it fails with `signal.reason` at once, during a run of the source or a delay.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures delays and timeout.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Subscribes to a source with growing delays until one of its values matches. Emits that value and
 * completes.
 *
 * A delay starts when the source completes. Other values are dropped; to receive them, use
 * {@link repeatBackoff} with `takeWhile` of rxjs.
 *
 * | Event | Result |
 * | --- | --- |
 * | `until` returns true for a value | emits it, completes and unsubscribes from the source |
 * | the source completes without such a value | subscribes again after the delay |
 * | the source fails with a `RetryAfterError`, or an error caused by one | waits as long as it names, at least for the delay and at most for `maxRetryAfter`, then subscribes again |
 * | that error names `Infinity` | fails with the error unchanged at once |
 * | the source fails with any other error, a `TerminalError` for example, or `until` throws | fails with the error unchanged at once |
 * | `timeout` expires | fails with a `TimeoutError` and unsubscribes from the source |
 * | `signal` aborts | fails with `signal.reason` at once |
 * | unsubscribed | stops the timers |
 *
 * @param until - whether a value matches
 * @param options - see {@link PollBackoffOptions}
 * @returns an operator
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { pollBackoff } from "@holdfast/wait/rxjs";
 * import { defer } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const phases = ["Pending", "Pending", "Running"];
 * const pod = defer(async () => ({ phase: phases.shift() }));
 *
 * pod
 *   .pipe(
 *     pollBackoff(({ phase }) => phase === "Running", {
 *       backoff: { duration: 500, factor: 2, cap: 10_000 },
 *       timeout: 60_000,
 *       clock,
 *     }),
 *   )
 *   .subscribe(({ phase }) => console.log(phase, clock.monotonic() - start));
 * await clock.step(60_000);
 * // => Running 1500
 * ```
 */
export function pollBackoff<T, S extends T>(
  until: (value: T) => value is S,
  options: PollBackoffOptions,
): OperatorFunction<T, S>;
export function pollBackoff<T>(
  until: (value: T) => boolean,
  options: PollBackoffOptions,
): MonoTypeOperatorFunction<T>;
export function pollBackoff<T>(
  until: (value: T) => boolean,
  options: PollBackoffOptions,
): MonoTypeOperatorFunction<T> {
  requireFunction("until", until);
  const given = read("options", options, "pollBackoff", POLL_BACKOFF_OPTIONS);
  const { backoff, timeout = Number.POSITIVE_INFINITY, clock = realClock } = given;
  const { maxRetryAfter = MAX_RETRY_AFTER, signal } = given;
  const strategy = strategyOf("options.backoff", backoff);
  const repeated = repeatBackoff<T>({ backoff: strategy, clock });
  const limit = timer(timeout, asScheduler(clock)).pipe(
    map((): never => {
      throw new TimeoutError(timeout);
    }),
  );
  const waitAndGoOn = (next: DelayFunc, error: unknown): Observable<void> => {
    const after = RetryAfterError.delayOf(error);
    const isWait =
      after !== undefined && after < Number.POSITIVE_INFINITY && !isTerminalError(error);
    if (!isWait) return throwError(() => error);
    return timerOn(clock, withRetryAfter(next(), error, maxRetryAfter));
  };
  return (source) => {
    const patient = defer(() => {
      const next = strategy.delayFunc();
      return source.pipe(retry({ delay: (error: unknown) => waitAndGoOn(next, error) }));
    }).pipe(repeated);
    // The limit comes first: of two timers due at the same instant, the older one fires first.
    return merge(limit, patient).pipe(
      first((value) => requireAnswer("until(value)", until(value))),
      signal === undefined ? identity : endedBy(signal),
    );
  };
}
