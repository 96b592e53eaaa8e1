import type { Clock } from "@holdfast/clock";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import type { RetryBudget } from "./retry-budget.ts";

/** One attempt of {@link retry}, or one call of {@link poll}. */
export interface Attempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;

  /**
   * Aborts when the result of this attempt is no longer needed. Pass it on to `fetch`, `clock.sleep`
   * and every other wait of the attempt.
   */
  readonly signal: AbortSignal;
}

/** A failed attempt, as the hooks of {@link retry} see it. Frozen. */
export interface RetryContext {
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;

  /** The error of the attempt. */
  readonly error: unknown;

  /** Delay before the next attempt, in milliseconds. */
  readonly delay: number;

  /** Milliseconds since the call of {@link retry}. */
  readonly elapsed: number;

  /** Number of attempts that may follow, at least 1: no hook is called after the last retry. */
  readonly retriesLeft: number;

  /** The `signal` of the options; one that never aborts if there is none. */
  readonly signal: AbortSignal;
}

/**
 * Hooks that {@link retry} calls, in this order, and awaits between two attempts.
 *
 * None is called if no attempt can follow: after the last retry, after a {@link TerminalError}, if the `budget` is spent,
 * or if the next attempt would start after `maxElapsed`. With a `delay` hook, which may choose 0, the latter holds
 * once `maxElapsed` has passed.
 */
export interface RetryHooks {
  /**
   * Whether an error is worth another attempt. Decide from the error alone; `retry` enforces the
   * limits.
   *
   * @defaultValue every error except a {@link TerminalError}
   */
  readonly shouldRetry?: ((context: RetryContext) => boolean | PromiseLike<boolean>) | undefined;

  /**
   * Replaces the next delay. Receives the planned delay as `next`: the delay of `backoff`, or a longer
   * one that a {@link RetryAfterError} names. Returns milliseconds, at least 0; `Infinity` waits for the
   * abort.
   *
   * @defaultValue `next`
   */
  readonly delay?:
    | ((context: RetryContext, next: number) => number | PromiseLike<number>)
    | undefined;

  /**
   * Called before each delay. If it takes so long that the next attempt would start after
   * `maxElapsed`, `retry` rejects with the error instead.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((context: RetryContext) => unknown) | undefined;
}

/** Options for {@link retry}. */
export interface RetryOptions extends RetryHooks {
  /**
   * Delays between attempts: a strategy, or the options of a {@link Backoff}. Delays that reach
   * `cap` stay there; `cap` does not limit the number of attempts.
   *
   * @defaultValue `{ duration: 100, factor: 2, jitter: 0.5, cap: 30_000 }`
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Maximum number of attempts after the first. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `10`; `Infinity` with a finite `maxElapsed` or `timeout`
   */
  readonly retries?: number | undefined;

  /**
   * Latest start of an attempt, in milliseconds since the call of {@link retry}. At least 0, or
   * `Infinity`. Does not interrupt an attempt; use `timeout`, `attemptTimeout` or `signal` for that.
   *
   * @defaultValue `Infinity`
   */
  readonly maxElapsed?: number | undefined;

  /**
   * Time limit of the whole call, in milliseconds. Above 0, or `Infinity`. When it expires, during an
   * attempt, a hook or a delay, the promise rejects with a {@link TimeoutError}, and the signal of the
   * attempt aborts with the same error. The `cause` is the error of the last attempt.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Time limit of each attempt, in milliseconds. Above 0, or `Infinity`. When it expires, the attempt
   * fails with a {@link TimeoutError} and its signal aborts with the same error. The `cause` is the
   * last error that was not a timeout.
   *
   * @defaultValue `Infinity`
   */
  readonly attemptTimeout?: number | undefined;

  /**
   * Maximum delay that a {@link RetryAfterError} may demand, in milliseconds. At least 0; `Infinity` is
   * no limit. The delays of `backoff` stay as they are.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Limits the retries of all calls that share it. A retry that it refuses is the end of the call, which rejects with the
   * error of the attempt unchanged.
   *
   * @defaultValue none
   */
  readonly budget?: RetryBudget | undefined;

  /**
   * Ends the call: the promise rejects with `signal.reason` at once, during an attempt, a hook or a
   * delay.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures all times.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}
