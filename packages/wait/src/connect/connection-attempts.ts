import { abortable, type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  abortSignal,
  func,
  type Kinds,
  loopClock,
  MAX_RETRY_AFTER,
  notNegative,
  parsed,
  required,
  retryAfterOf,
} from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import type { Random } from "../delay/random.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { Deadline } from "../limit/deadline.ts";
import { type BackoffManager, ReusedTimer } from "../loop/backoff-manager.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { GrpcBackoff } from "../strategies/grpc-backoff.ts";
import type { ConnectAttempt, ConnectOptions, ConnectRetry } from "./connect-options.ts";

/** The options of `connectWithBackoff`. */
export const CONNECT_OPTIONS: Kinds<ConnectOptions<never>> = {
  signal: required(abortSignal),
  backoff: parsed("backoff"),
  minConnectTimeout: notNegative,
  maxRetryAfter: notNegative,
  clock: loopClock,
  onRetry: func,
  onLate: func,
};

const MIN_CONNECT_TIMEOUT = 20_000;

/** Shortest time limit in milliseconds: with a limit of 0 no attempt would start. */
const NANOSECOND = 1e-6;

/**
 * The attempts to make one connection: their number, and the earliest start of the next. The loop does
 * not slide, so it calls `backoff()` at the start of each attempt.
 */
export class ConnectionAttempts<Connection> implements BackoffManager {
  readonly signal: AbortSignal;
  /** Receives a late connection. */
  readonly onLate: ((connection: Connection) => unknown) | undefined;
  readonly #onRetry: ((retry: ConnectRetry) => unknown) | undefined;
  readonly #minTimeout: number;
  readonly #maxRetryAfter: number;
  readonly #clock: Clock;
  readonly #strategy: BackoffStrategy;
  readonly #timer: ReusedTimer;
  #nextDelay: DelayFunc;
  #attempt = 0;
  /** Start of the last attempt, on the monotonic clock. */
  #startedAt = 0;
  /** Milliseconds from that start to the earliest start of the next attempt. */
  #delay = 0;
  /** Random part of that, so that clients that have lost their connections at one instant do not come back at one. */
  #offset = 0;
  /** Set when the strategy threw instead of returning a delay: no further attempt follows. */
  #exhausted: { readonly error: unknown } | undefined = undefined;

  /** @param options - read and checked */
  constructor(options: ConnectOptions<Connection>, random?: Random) {
    const { signal, clock = realClock, onRetry, onLate } = options;
    const { backoff = new GrpcBackoff({ random }) } = options;
    const { minConnectTimeout = MIN_CONNECT_TIMEOUT, maxRetryAfter = MAX_RETRY_AFTER } = options;
    this.#minTimeout = minConnectTimeout;
    this.#maxRetryAfter = maxRetryAfter;
    this.signal = signal;
    this.#onRetry = onRetry;
    this.onLate = onLate;
    this.#clock = clock;
    this.#timer = new ReusedTimer(clock);
    this.#strategy = strategyOf("options.backoff", backoff, random);
    this.#nextDelay = this.#strategy.delayFunc();
  }

  /** Counts an attempt that starts now, and arms the timer for the next one. */
  backoff(): Timer {
    this.#attempt++;
    this.#offset = 0;
    this.#delay = this.#draw(this.#nextDelay);
    this.#startedAt = this.#clock.monotonic();
    return this.#timer.arm(this.#delay);
  }

  /**
   * Begins the attempt that {@link ConnectionAttempts.backoff} has counted: what `connect` receives, and the
   * limit within which to call it. The caller does, because each function in between costs the stack of an
   * error one of its callers.
   */
  begin(): { readonly limit: Deadline; readonly facts: ConnectAttempt } {
    const [attempt, startedAt, delay] = [this.#attempt, this.#startedAt, this.#delay];
    const timeout = Math.max(delay, this.#minTimeout);
    const limit = new Deadline(Math.max(timeout, NANOSECOND), {
      signal: this.signal,
      clock: this.#clock,
      label: "attempt to connect",
    });
    return { limit, facts: { attempt, startedAt, delay, timeout, signal: limit.signal } };
  }

  /** Returns if another attempt follows; throws the error to reject with otherwise. */
  async failed(error: unknown): Promise<void> {
    if (this.signal.aborted) return;
    this.obey(error);
    this.requireMore();
    const onRetry = this.#onRetry;
    if (onRetry === undefined) return;
    const retry = { attempt: this.#attempt, error, delay: this.#untilNext() };
    await abortable(() => onRetry(retry), this.signal);
  }

  /** Rethrows an error that no further attempt can fix, and waits as long as an error demands. */
  obey(error: unknown): void {
    const after = retryAfterOf(error, this.#maxRetryAfter);
    if (isTerminalError(error) || after === Number.POSITIVE_INFINITY) throw error;
    if (after === undefined || this.signal.aborted) return;
    const passed = this.#clock.monotonic() - this.#startedAt;
    this.#delay = Math.max(this.#delay, passed + after + this.#offset);
    this.#timer.arm(this.#untilNext());
  }

  /** Now, on the clock of the attempts. */
  now(): number {
    return this.#clock.monotonic();
  }

  /**
   * A connection has ended. If it was stable, its attempt counts as the first and the delays start over. From the
   * earliest start of the next attempt, which may have passed, that comes at a random time within the delay, because
   * other clients lost theirs at this instant.
   */
  ended(isStable: boolean, random: Random): void {
    let spread = this.#delay;
    if (isStable) {
      const hadNoDelay = this.#exhausted !== undefined;
      this.#attempt = 0;
      this.#exhausted = undefined;
      spread = this.#draw(this.#strategy.delayFunc());
      this.#delay = hadNoDelay ? spread : Math.min(this.#delay, spread);
      this.#nextDelay = this.#strategy.delayFunc();
    }
    // A timer armed after the abort would delay the end.
    if (this.signal.aborted) return;
    const passed = this.now() - this.#startedAt;
    this.#offset = random() * spread;
    this.#delay = Math.max(this.#delay, passed) + this.#offset;
    this.#timer.arm(this.#untilNext());
  }

  /** Throws the error of the strategy if it has no delay left for an attempt that would follow. */
  requireMore(): void {
    if (this.#exhausted !== undefined && !this.signal.aborted) throw this.#exhausted.error;
  }

  #draw(nextDelay: DelayFunc): number {
    try {
      return nextDelay();
    } catch (error) {
      this.#exhausted = { error };
      return 0;
    }
  }

  #untilNext(): number {
    return Math.max(this.#startedAt + this.#delay - this.#clock.monotonic(), 0);
  }
}
