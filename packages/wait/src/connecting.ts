import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  requireFunction,
  requireHooks,
  requireNotNegative,
  requireOptions,
  requireSignal,
} from "@holdfast/clock/internal";
import type { BackoffManager } from "./backoff-manager.ts";
import type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
import type { ConnectAttempt, ConnectOptions } from "./connect-options.ts";
import { GrpcBackoff } from "./grpc-backoff.ts";
import { rearmedTimer } from "./rearmed-timer.ts";
import { strategyOf } from "./strategy-of.ts";
import { tryConnect } from "./try-connect.ts";

const MIN_CONNECT_TIMEOUT = 20_000;

/**
 * What one connection knows of its attempts: how many there were, and when the next may start. As the
 * manager of a loop that does not slide, it is asked for a delay at the start of each.
 */
export class Connecting<Connection> implements BackoffManager {
  readonly #connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>;
  readonly #options: ConnectOptions<Connection>;
  readonly #minTimeout: number;
  readonly #clock: Clock;
  readonly #strategy: BackoffStrategy;
  readonly #arm: (delay: number) => Timer;
  #next: DelayFunc;
  #attempt = 0;
  /** Of the last attempt: when it started, and how long from then the next one has to wait. */
  #startedAt = 0;
  #delay = 0;

  constructor(
    connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>,
    options: ConnectOptions<Connection>,
  ) {
    requireFunction("connect", connect);
    requireOptions("options", options);
    const { signal, backoff = new GrpcBackoff() } = options;
    const { clock = realClock, minConnectTimeout = MIN_CONNECT_TIMEOUT } = options;
    requireSignal("options.signal", signal);
    requireHooks("options", options, ["onRetry", "onLate"]);
    this.#minTimeout = requireNotNegative("options.minConnectTimeout", minConnectTimeout);
    this.#connect = connect;
    this.#options = options;
    this.#clock = clock;
    this.#arm = rearmedTimer("options.clock", clock);
    this.#strategy = strategyOf("options.backoff", backoff);
    this.#next = this.#strategy.delayFunc();
  }

  backoff(): Timer {
    this.#attempt++;
    this.#delay = this.#next();
    this.#startedAt = this.#clock.monotonic();
    return this.#arm(this.#delay);
  }

  /** Makes the attempt that {@link Connecting.backoff} has just made room for. */
  attempt(): Promise<Connection> {
    const [attempt, startedAt, delay] = [this.#attempt, this.#startedAt, this.#delay];
    const facts = { attempt, startedAt, delay, timeout: Math.max(delay, this.#minTimeout) };
    const { signal, onLate } = this.#options;
    return tryConnect({ connect: this.#connect, facts, clock: this.#clock, signal, onLate });
  }

  /** Tells of the attempt that failed. */
  async failed(error: unknown): Promise<void> {
    const { signal, onRetry } = this.#options;
    if (!signal.aborted)
      await onRetry?.({ attempt: this.#attempt, error, delay: this.#untilNext() });
  }

  /** Starts over: the attempt that was accepted now counts as the first one. */
  accepted(): void {
    this.#attempt = 0;
    this.#delay = Math.min(this.#delay, this.#strategy.delayFunc()());
    this.#next = this.#strategy.delayFunc();
    // Armed after the stop, the timer would hold up the end.
    if (!this.#options.signal.aborted) this.#arm(this.#untilNext());
  }

  #untilNext(): number {
    return Math.max(this.#startedAt + this.#delay - this.#clock.monotonic(), 0);
  }
}
