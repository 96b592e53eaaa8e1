import { type Clock, realClock } from "@holdfast/clock";
import {
  requireBoolean,
  requireFunction,
  requireHooks,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import { defer, identity, type MonoTypeOperatorFunction, retry, tap, throwError } from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { RetryAfterError } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { Pace } from "./pace.ts";
import { timerOn } from "./timer-on.ts";

/** What the hooks of {@link retryBackoff} are told of a failure. Frozen. */
export interface RetryBackoffContext {
  /** Which subscription to the source failed, counted from 1; from the last success on with `resetOnSuccess`. */
  readonly attempt: number;
  /** What it failed with. */
  readonly error: unknown;
  /** How long the wait before the next one is, in milliseconds. */
  readonly delay: number;
  /** How long all of it has taken so far, in milliseconds, as `maxElapsed` counts. */
  readonly elapsed: number;
  /** How many retries are left, the one that this failure asks for included. */
  readonly retriesLeft: number;
}

/** What {@link retryBackoff} can be told. */
export interface RetryBackoffOptions {
  /** The shape of the delays: a strategy, or the options of a `Backoff`. */
  readonly backoff: BackoffStrategy | BackoffOptions;

  /**
   * How many times to subscribe again; the first subscription is none. A whole number, at least 0,
   * or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly retries?: number | undefined;

  /**
   * How long all of it may take, in milliseconds, at least 0 or `Infinity`. A retry that would start
   * later is not waited for: the error comes at once. It does not cut a subscription short.
   *
   * Counts from the subscription or, with `resetOnSuccess`, from the first failure after a value.
   *
   * @defaultValue `Infinity`
   */
  readonly maxElapsed?: number | undefined;

  /**
   * Whether a failure is worth a retry; false passes the error on at once. Asked only while retries
   * are left.
   *
   * @defaultValue every failure is
   */
  readonly shouldRetry?: ((context: RetryBackoffContext) => boolean) | undefined;

  /**
   * Replaces a delay, for instance by what a server asks for. It gets that of `backoff` and returns
   * the one to use: milliseconds, at least 0; `Infinity` means never.
   *
   * @defaultValue the delay of `backoff`
   */
  readonly delay?: ((context: RetryBackoffContext, next: number) => number) | undefined;

  /**
   * Is told of each retry before the wait for it begins.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((context: RetryBackoffContext) => void) | undefined;

  /**
   * Whether a value of the source makes retries, `maxElapsed` and delays start over.
   *
   * @defaultValue `false`
   */
  readonly resetOnSuccess?: boolean | undefined;

  /**
   * Measures the delays and what has elapsed.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

const always = (): boolean => true;
const ignore = (): void => {};

/**
 * Subscribes to a source again when it fails, later each time.
 *
 * Each subscription has delays and limits of its own, however many share the operator. A retry
 * always waits for a timer, so a delay of 0 neither recurses nor keeps the event loop busy.
 *
 * | What happens | What the stream does |
 * | --- | --- |
 * | the source emits or completes | the same |
 * | the source fails, a retry is left | waits, then subscribes to it again |
 * | it fails without one, too late, or `shouldRetry` says false | fails at once with that very error |
 * | a hook throws | fails at once with what it threw |
 * | it is unsubscribed from during a delay | stops the timer |
 *
 * @param options - see {@link RetryBackoffOptions}
 * @returns an operator
 * @throws RangeError or TypeError if an option is out of its range
 *
 * Source: the limits are those of `maxElapsed` in github.com/cenkalti/backoff, where a delay that
 * would end too late is not waited for, and of `retries` in the node-retry family. The repeating is
 * rxjs' own `retry`.
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
      const pace = new Pace(resolved.strategy, resolved.clock);
      return source.pipe(
        resolved.resetOnSuccess ? tap(() => pace.succeed()) : identity,
        retry({
          delay(error: unknown) {
            const delay = nextDelay(resolved, pace, error);
            return delay === undefined ? throwError(() => error) : timerOn(resolved.clock, delay);
          },
        }),
      );
    });
}

type ResolvedRetryBackoff = {
  readonly [K in Exclude<keyof RetryBackoffOptions, "backoff" | "delay">]-?: NonNullable<
    RetryBackoffOptions[K]
  >;
} & Pick<RetryBackoffOptions, "delay"> & { readonly strategy: BackoffStrategy };

function resolve(options: RetryBackoffOptions): ResolvedRetryBackoff {
  requireOptions("options", options);
  const {
    backoff,
    retries = Number.POSITIVE_INFINITY,
    maxElapsed = Number.POSITIVE_INFINITY,
    shouldRetry = always,
    delay,
    onRetry = ignore,
    resetOnSuccess = false,
    clock = realClock,
  } = options;
  const strategy = strategyOf("options.backoff", backoff);
  requireWhole("options.retries", retries, 0);
  requireNotNegative("options.maxElapsed", maxElapsed);
  requireFunction("options.shouldRetry", shouldRetry);
  requireHooks("options", options, ["delay"]);
  requireFunction("options.onRetry", onRetry);
  requireBoolean("options.resetOnSuccess", resetOnSuccess);
  requireMethods("options.clock", clock, ["monotonic", "afterFunc"]);
  return { strategy, retries, maxElapsed, shouldRetry, delay, onRetry, resetOnSuccess, clock };
}

/** How long to wait after a failure; nothing if it was the last one. */
function nextDelay(
  { retries, maxElapsed, shouldRetry, delay, onRetry }: ResolvedRetryBackoff,
  pace: Pace,
  error: unknown,
): number | undefined {
  const { attempt, elapsed } = pace.endRun();
  const retriesLeft = retries - attempt + 1;
  if (retriesLeft <= 0 || isTerminalError(error)) return undefined;
  const after = RetryAfterError.delayOf(error);
  const scheduled = pace.nextDelay();
  const planned = after ?? scheduled;
  const failure = { attempt, error, elapsed, retriesLeft };
  const context = Object.freeze({ ...failure, delay: planned });
  if (!shouldRetry(context)) return undefined;
  const chosen =
    delay === undefined ? planned : requireNotNegative("options.delay()", delay(context, planned));
  if (delay === undefined && after === Number.POSITIVE_INFINITY) return undefined;
  if (toNanoseconds(elapsed + chosen) > toNanoseconds(maxElapsed)) return undefined;
  onRetry(Object.freeze({ ...failure, delay: chosen }));
  return chosen;
}
