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
import { unlessAborted } from "./within.ts";

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
  /** What the strategy threw instead of a delay: the attempt under way is the last one. */
  #spent: { readonly error: unknown } | undefined = undefined;

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
    this.#delay = this.#draw();
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

  /** Tells of the attempt that failed. An abort does not wait for who is told. */
  async failed(error: unknown): Promise<void> {
    const { signal, onRetry } = this.#options;
    if (signal.aborted) return;
    if (this.#spent !== undefined) throw this.#spent.error;
    if (onRetry === undefined) return;
    const told = { attempt: this.#attempt, error, delay: this.#untilNext() };
    await unlessAborted(signal, (async () => onRetry(told))());
  }

  /** Starts over: the attempt that was accepted now counts as the first one. */
  accepted(): void {
    this.#attempt = 0;
    const first = this.#strategy.delayFunc()();
    this.#delay = this.#spent === undefined ? Math.min(this.#delay, first) : first;
    this.#spent = undefined;
    this.#next = this.#strategy.delayFunc();
    // Armed after the stop, the timer would hold up the end.
    if (!this.#options.signal.aborted) this.#arm(this.#untilNext());
  }

  #draw(): number {
    try {
      return this.#next();
    } catch (error) {
      this.#spent = { error };
      return 0;
    }
  }

  #untilNext(): number {
    return Math.max(this.#startedAt + this.#delay - this.#clock.monotonic(), 0);
  }
}
