import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  flag,
  func,
  type Kinds,
  MAX_RETRY_AFTER,
  methods,
  notNegative,
  parsed,
  read,
  requireAnswer,
  required,
  requireNotNegative,
  whole,
} from "@holdfast/kit";
import { defer, identity, type MonoTypeOperatorFunction, retry, tap, throwError } from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { RetryAfterError, withRetryAfter } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { endedBy } from "./ended-by.ts";
import { Pace } from "./pace.ts";
import { timerOn } from "./timer-on.ts";

export const RETRY_BACKOFF_OPTIONS: Kinds<RetryBackoffOptions> = {
  backoff: required(parsed("backoff")),
  retries: whole(0),
  maxElapsed: notNegative,
  shouldRetry: func,
  delay: func,
  onRetry: func,
  resetOnSuccess: flag,
  resetAfter: notNegative,
  maxRetryAfter: notNegative,
  signal: abortSignal,
  clock: methods("monotonic", "afterFunc"),
};

/** A failed subscription, as the hooks of {@link retryBackoff} see it. Frozen. */
export interface RetryBackoffContext {
  /** Number of the failed subscription, from 1; since the last success, see `resetOnSuccess` and `resetAfter`. */
  readonly attempt: number;
  /** The error of the source. */
  readonly error: unknown;
  /** Delay before the next subscription, in milliseconds. */
  readonly delay: number;
  /** Elapsed time in milliseconds, measured as for `maxElapsed`. */
  readonly elapsed: number;
  /** Number of retries left, including the next one. */
  readonly retriesLeft: number;
}

/** Options for {@link retryBackoff}. */
export interface RetryBackoffOptions {
  /** Delays: a strategy, or the options of a `Backoff`. */
  readonly backoff: BackoffStrategy | BackoffOptions;

  /**
   * Maximum number of subscriptions after the first. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly retries?: number | undefined;

  /**
   * Latest start of a retry, in milliseconds. At least 0, or `Infinity`. If the next retry would start
   * later, the stream fails at once. Does not interrupt a run of the source.
   *
   * Measured from the subscription or, with `resetOnSuccess` or `resetAfter`, from the first failure after a success.
   *
   * @defaultValue `Infinity`
   */
  readonly maxElapsed?: number | undefined;

  /**
   * Whether an error is worth a retry; false fails the stream with it at once. Like the other hooks, it
   * is called only if a retry can follow: not after the last one, not for a `TerminalError`, and not if
   * the next retry would start after `maxElapsed`. With a `delay` hook, which may choose 0, the latter
   * holds once `maxElapsed` has passed.
   *
   * @defaultValue every error except a `TerminalError`
   */
  readonly shouldRetry?: ((context: RetryBackoffContext) => boolean) | undefined;

  /**
   * Replaces the next delay. Receives the planned delay as `next`: the delay that a `RetryAfterError`
   * names, if that is longer than the delay of `backoff`. Returns milliseconds, at least 0; `Infinity` waits until the
   * stream is unsubscribed.
   *
   * @defaultValue `next`
   */
  readonly delay?: ((context: RetryBackoffContext, next: number) => number) | undefined;

  /**
   * Called before each delay.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((context: RetryBackoffContext) => void) | undefined;

  /**
   * Whether a value of the source resets `retries`, `maxElapsed` and the delays.
   *
   * @defaultValue `false`
   */
  readonly resetOnSuccess?: boolean | undefined;

  /**
   * Duration of a run of the source that resets the same, in milliseconds: the next failure is number 1. At least 0; with
   * `Infinity` no run does.
   *
   * @defaultValue `Infinity`
   */
  readonly resetAfter?: number | undefined;

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
   * Measures delays and elapsed time.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

const always = (): boolean => true;
const ignore = (): void => {};

/**
 * Subscribes to a source again when it fails, with growing delays.
 *
 * Each subscription has its own delays and limits. Every retry waits for a timer, so a delay of 0
 * neither recurses nor blocks the event loop.
 *
 * | Event | Result |
 * | --- | --- |
 * | the source emits or completes | the same |
 * | the source fails | subscribes again after the delay |
 * | it fails after the last retry, or the next retry would start after `maxElapsed` | fails with the error unchanged at once |
 * | it fails, and `shouldRetry` returns false | fails with the error unchanged at once |
 * | it fails with a `TerminalError`, or an error caused by one | fails with the error unchanged at once |
 * | it fails with a `RetryAfterError`, or an error caused by one | waits as long as it names, at least for the delay and at most for `maxRetryAfter`, then subscribes again |
 * | that error names `Infinity` | fails with the error unchanged at once |
 * | a hook throws | fails with the error of the hook |
 * | `signal` aborts | fails with `signal.reason` at once |
 * | unsubscribed during a delay | stops the timer |
 *
 * @param options - see {@link RetryBackoffOptions}
 * @returns an operator
 * @throws RangeError or TypeError if an option is out of its range
 *
 * Source: `maxElapsed` is that of github.com/cenkalti/backoff, which skips a delay that would end too
 * late. `retries` is that of node-retry. The operator uses `retry` of rxjs.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { retryBackoff } from "@holdfast/wait/rxjs";
 * import { throwError } from "rxjs";
 *
 * const clock = new FakeClock();
 * const refused = new Error("refused");
 * throwError(() => refused)
 *   .pipe(
 *     retryBackoff({
 *       backoff: { duration: 100, factor: 2, cap: 30_000 },
 *       retries: 3,
 *       onRetry: ({ attempt, delay, retriesLeft }) => console.log(attempt, delay, retriesLeft),
 *       clock,
 *     }),
 *   )
 *   .subscribe({ error: (error) => console.log(error === refused) });
 * await clock.step(700);
 * // => 1 100 3
 * // => 2 200 2
 * // => 3 400 1
 * // => true
 * ```
 */
export function retryBackoff<T>(options: RetryBackoffOptions): MonoTypeOperatorFunction<T> {
  const resolved = resolve(options);
  return (source) =>
    defer(() => {
      const pace = new Pace(resolved.strategy, resolved.clock, resolved.resetAfter);
      return pace.timed(source).pipe(
        resolved.resetOnSuccess ? tap(() => pace.succeed()) : identity,
        retry({
          delay(error: unknown) {
            const delay = nextDelay(resolved, pace, error);
            return delay === undefined ? throwError(() => error) : timerOn(resolved.clock, delay);
          },
        }),
        resolved.signal === undefined ? identity : endedBy(resolved.signal),
      );
    });
}

type ResolvedRetryBackoff = {
  readonly [K in Exclude<keyof RetryBackoffOptions, "backoff" | "delay" | "signal">]-?: NonNullable<
    RetryBackoffOptions[K]
  >;
} & Pick<RetryBackoffOptions, "delay" | "signal"> & { readonly strategy: BackoffStrategy };

function resolve(options: RetryBackoffOptions): ResolvedRetryBackoff {
  const {
    backoff,
    retries = Number.POSITIVE_INFINITY,
    maxElapsed = Number.POSITIVE_INFINITY,
    shouldRetry = always,
    delay,
    onRetry = ignore,
    resetOnSuccess = false,
    resetAfter = Number.POSITIVE_INFINITY,
    maxRetryAfter = MAX_RETRY_AFTER,
    signal,
    clock = realClock,
  } = read("options", options, "retryBackoff", RETRY_BACKOFF_OPTIONS);
  const strategy = strategyOf("options.backoff", backoff);
  const limits = { retries, maxElapsed, maxRetryAfter };
  const hooks = { shouldRetry, delay, onRetry };
  return { strategy, ...limits, ...hooks, resetOnSuccess, resetAfter, signal, clock };
}

/** The delay after a failure in milliseconds; undefined if no retry follows. */
function nextDelay(options: ResolvedRetryBackoff, pace: Pace, error: unknown): number | undefined {
  const { attempt, elapsed } = pace.endRun();
  const retriesLeft = options.retries - attempt + 1;
  if (retriesLeft <= 0 || isTerminalError(error)) return undefined;
  const delay = withRetryAfter(pace.nextDelay(), error, options.maxRetryAfter);
  const isNever = RetryAfterError.delayOf(error) === Number.POSITIVE_INFINITY;
  if (isNever && options.delay === undefined) return undefined;
  return delayByHooks(options, { attempt, error, elapsed, retriesLeft, delay });
}

/** Calls the hooks, unless no retry can follow. */
function delayByHooks(
  { maxElapsed, shouldRetry, delay, onRetry }: ResolvedRetryBackoff,
  failure: RetryBackoffContext,
): number | undefined {
  const planned = failure.delay;
  const isTooLong = (wait: number): boolean =>
    toNanoseconds(failure.elapsed + wait) > toNanoseconds(maxElapsed);
  if (isTooLong(delay === undefined ? planned : 0)) return undefined;
  const context = Object.freeze(failure);
  if (!requireAnswer("options.shouldRetry(context)", shouldRetry(context))) return undefined;
  const chosen =
    delay === undefined ? planned : requireNotNegative("options.delay()", delay(context, planned));
  if (isTooLong(chosen)) return undefined;
  onRetry(Object.freeze({ ...failure, delay: chosen }));
  return chosen;
}
