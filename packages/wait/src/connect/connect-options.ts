import type { Clock } from "@holdfast/clock";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";

/** What an attempt to connect is told. */
export interface ConnectAttempt {
  /** Counts the attempts from 1; from 1 again after the peer has accepted one. */
  readonly attempt: number;

  /** When this attempt started: an instant of the clock's `monotonic()`. */
  readonly startedAt: number;

  /** Milliseconds from `startedAt` before which no other attempt starts. */
  readonly delay: number;

  /** Milliseconds from `startedAt` after which this attempt has failed. */
  readonly timeout: number;

  /**
   * Aborts when the attempt is given up: with a {@link TimeoutError} after `timeout`, with the reason
   * of the stop where everything stops. Close the socket then, and reject.
   */
  readonly signal: AbortSignal;
}

/** What is known about an attempt that failed. */
export interface ConnectRetry {
  /** Which attempt it was; see {@link ConnectAttempt.attempt}. */
  readonly attempt: number;

  /** What it rejected with; a {@link TimeoutError} if it took too long. */
  readonly error: unknown;

  /** Milliseconds from now to the start of the next attempt; 0 if its time has come. */
  readonly delay: number;
}

/** What {@link connectWithBackoff} can be told, and {@link keepConnected} as well. */
export interface ConnectOptions<Connection> {
  /** Ends it all. Required: a peer may never accept. */
  readonly signal: AbortSignal;

  /**
   * The delays between the starts of attempts: a strategy, or the options of a {@link Backoff}.
   *
   * @defaultValue `new GrpcBackoff()`: 1 s, growing by 1.6 up to 120 s, and up to 20 % more or less
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * How long an attempt may take at least: milliseconds, at least 0; `Infinity` sets no limit. An
   * attempt whose delay is longer may take as long as that.
   *
   * @defaultValue `20_000`
   */
  readonly minConnectTimeout?: number | undefined;

  /**
   * Measures the delays and the limits.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Told of each attempt that failed and is followed by another, and waited for, but not by an abort.
   * What it throws ends it all: rethrow there what no further attempt can mend.
   *
   * @defaultValue none
   */
  readonly onRetry?: ((retry: ConnectRetry) => unknown) | undefined;

  /**
   * Gets a connection that came after its attempt had been given up, to close it. Nobody else knows
   * of it. What this function throws is an unhandled rejection.
   *
   * @defaultValue none: such a connection is dropped as it is
   */
  readonly onLate?: ((connection: Connection) => unknown) | undefined;
}
