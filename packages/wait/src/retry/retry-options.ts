import type { Clock } from "@holdfast/clock";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";

/** What the hooks of {@link retry} are told of an attempt that failed. Frozen. */
export interface RetryContext {
  /** Which call of the function failed, counted from 1. */
  readonly attempt: number;

  /** What it threw or rejected with. */
  readonly error: unknown;

  /** How long the wait before the next attempt is to be, in milliseconds. */
  readonly delay: number;

  /** Milliseconds since {@link retry} was called. */
  readonly elapsed: number;

  /** How many attempts may follow. Never 0: after the last one nobody is asked. */
  readonly retriesLeft: number;

  /** Aborts when nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
}

/** What {@link retry} asks and tells between two attempts. */
export interface RetryHooks {
  /**
   * Whether an error is worth another attempt. Only the error decides; the limits are looked after.
   *
   * @defaultValue every error but a {@link TerminalError}
   */
  readonly shouldRetry?: ((context: RetryContext) => boolean | PromiseLike<boolean>) | undefined;

  /**
   * Replaces the next delay, for instance by what a server asks for; see {@link parseRetryAfter}. It
   * returns milliseconds, at least 0. It gets that of `backoff`, and returns it where it has none of
   * its own.
   *
   * @defaultValue the delay of `backoff`
   */
  readonly delay?:
    | ((context: RetryContext, next: number) => number | PromiseLike<number>)
    | undefined;

  /**
   * Told of each attempt that will be followed by another, before the wait. It is waited for; if it
   * takes so long that the next attempt would start after `maxElapsed`, that one does not come.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((context: RetryContext) => unknown) | undefined;
}

/** What {@link retry} can be told. */
export interface RetryOptions extends RetryHooks {
  /**
   * The delays between attempts: any strategy, or the options of a {@link Backoff}. A delay that has
   * reached its cap stays there for as long as there are attempts.
   *
   * @defaultValue `{ duration: 100, factor: 2, jitter: 0.5, cap: 30_000 }`
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * How many attempts may follow the first one. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `10`; `Infinity` where there is a `maxElapsed`
   */
  readonly retries?: number | undefined;

  /**
   * No attempt starts later than this after the call of {@link retry}, in milliseconds. At least 0,
   * or `Infinity`. It does not interrupt an attempt; `attemptTimeout` and `signal` do.
   *
   * @defaultValue `Infinity`
   */
  readonly maxElapsed?: number | undefined;

  /**
   * How long each attempt may take, in milliseconds. Above 0, or `Infinity`. When it is over, the
   * signal of the attempt aborts with a {@link TimeoutError}, which is the error of the attempt;
   * its `cause` is the last error that was no timeout. Nobody waits for the function any more.
   *
   * @defaultValue `Infinity`
   */
  readonly attemptTimeout?: number | undefined;

  /**
   * Ends everything at once: the promise rejects with `signal.reason`, whether an attempt, a hook or
   * a delay is under way.
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
