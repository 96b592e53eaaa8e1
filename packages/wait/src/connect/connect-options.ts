import type { Clock } from "@holdfast/clock";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";

/** One attempt to connect. */
export interface ConnectAttempt {
  /** Number of the attempt, from 1. Restarts at 1 after an accepted connection. */
  readonly attempt: number;

  /** Start of this attempt: milliseconds of the clock's `monotonic()`. */
  readonly startedAt: number;

  /** Milliseconds from `startedAt` to the earliest start of the next attempt. */
  readonly delay: number;

  /** Time limit of this attempt, in milliseconds from `startedAt`. */
  readonly timeout: number;

  /**
   * Aborts with a `TimeoutError` after `timeout`, and with the reason of `options.signal` when
   * that aborts. Close the socket then, and reject.
   */
  readonly signal: AbortSignal;
}

/** A failed attempt to connect. */
export interface ConnectRetry {
  /** Number of the attempt; see {@link ConnectAttempt.attempt}. */
  readonly attempt: number;

  /** The error of the attempt; a `TimeoutError` if its timeout expired. */
  readonly error: unknown;

  /** Milliseconds from now to the start of the next attempt; 0 if it starts at once. */
  readonly delay: number;
}

/** Options for {@link connectWithBackoff} and {@link keepConnected}. */
export interface ConnectOptions<Connection> {
  /** Ends the call. Required: a peer may never accept. */
  readonly signal: AbortSignal;

  /**
   * Delays between the starts of attempts: a strategy, or the options of a `Backoff`.
   *
   * @defaultValue `new GrpcBackoff()` of `@holdfast/wait/strategies`: 1 s, then ± 20 % around 1.6 s,
   * 2.56 s and so on up to 120 s
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Minimum time limit of an attempt, in milliseconds. At least 0; `Infinity` means no limit. The
   * limit of an attempt is the longer of this and its delay.
   *
   * @defaultValue `20_000`
   */
  readonly minConnectTimeout?: number | undefined;

  /**
   * Maximum delay that a `RetryAfterError` may demand, in milliseconds. At least 0; `Infinity` is
   * no limit. The delays of `backoff` stay as they are.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Measures delays and time limits.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Called and awaited after each failed attempt that is followed by another. An abort does not wait
   * for it. If it throws, the call rejects with that error.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((retry: ConnectRetry) => unknown) | undefined;

  /**
   * Receives a connection that `connect` returns after its signal has aborted. Close it here: no
   * other code sees it. An error it throws is an unhandled rejection.
   *
   * @defaultValue none: a late connection is ignored
   */
  readonly onLate?: ((connection: Connection) => unknown) | undefined;
}
