import { type Clock, realClock } from "@holdfast/clock";
import {
  type OptionNames,
  requireAbove,
  requireClock,
  requireHooks,
  requireNotNegative,
  requireOptions,
  requireSignal,
  requireWhole,
} from "@holdfast/clock/internal";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { isTimeoutError } from "../limit/timeout-error.ts";
import { withTimeout } from "../limit/with-timeout.ts";
import type { Attempt } from "./attempt.ts";
import { RetryAfterError } from "./retry-after-error.ts";
import type { RetryContext, RetryHooks, RetryOptions } from "./retry-options.ts";
import { isTerminalError } from "./terminal-error.ts";

const OPTIONS: OptionNames<RetryOptions> = {
  backoff: true,
  retries: true,
  maxElapsed: true,
  attemptTimeout: true,
  signal: true,
  clock: true,
  shouldRetry: true,
  delay: true,
  onRetry: true,
};

const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 2, jitter: 0.5, cap: 30_000 };

/** {@link RetryOptions}, checked, with their defaults. */
export interface RetryPlan extends RetryHooks {
  /** Never aborts if the caller passed none. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly retries: number;
  readonly maxElapsed: number;
  readonly attemptTimeout: number;
  readonly nextDelay: DelayFunc;
  readonly hasHooks: boolean;
}

/** Reads the options once. */
export function retryPlan(options: RetryOptions): RetryPlan {
  requireOptions("options", options, "retry", OPTIONS);
  const { signal = new AbortController().signal, clock = realClock } = options;
  const { backoff = DEFAULT_BACKOFF, maxElapsed = Number.POSITIVE_INFINITY } = options;
  const { attemptTimeout = Number.POSITIVE_INFINITY } = options;
  const { retries = maxElapsed === Number.POSITIVE_INFINITY ? 10 : Number.POSITIVE_INFINITY } =
    options;
  const { shouldRetry, delay, onRetry } = options;
  requireSignal("options.signal", signal);
  requireClock("options.clock", clock);
  const nextDelay = strategyOf("options.backoff", backoff).delayFunc();
  requireNotNegative("options.maxElapsed", maxElapsed);
  requireWhole("options.retries", retries, 0);
  requireHooks("options", { shouldRetry, delay, onRetry });
  requireAbove("options.attemptTimeout", attemptTimeout, 0);
  const limits = { retries, maxElapsed, attemptTimeout };
  const hooks = { shouldRetry, delay, onRetry };
  const hasHooks = Object.values(hooks).some((hook) => hook !== undefined);
  return { signal, clock, ...limits, nextDelay, ...hooks, hasHooks };
}

/** The attempts of one `retry`: calls the function, and after a failure decides on the next attempt. */
export class RetryAttempts<Value> {
  readonly #fn: (attempt: Attempt) => Value | PromiseLike<Value>;
  readonly #plan: RetryPlan;
  readonly #start: number;
  #attempt = 0;
  /** The delay before the next attempt, in milliseconds. */
  #delay = 0;
  /** The last error that was not a timeout: timeouts caused by timeouts would form an endless chain. */
  #lastError: unknown = undefined;

  constructor(fn: (attempt: Attempt) => Value | PromiseLike<Value>, plan: RetryPlan) {
    this.#fn = fn;
    this.#plan = plan;
    this.#start = plan.clock.monotonic();
  }

  /** Makes the next attempt. */
  run(signal: AbortSignal): Value | PromiseLike<Value> {
    const { attemptTimeout, clock } = this.#plan;
    const attempt = ++this.#attempt;
    if (attemptTimeout === Number.POSITIVE_INFINITY) return this.#fn({ attempt, signal });
    return withTimeout((own) => this.#fn({ attempt, signal: own }), attemptTimeout, {
      signal,
      clock,
      cause: () => this.#lastError,
    });
  }

  /** Returns if another attempt follows; throws the error to reject with otherwise. */
  failed(error: unknown): void | Promise<void> {
    const { signal, retries, nextDelay, delay, hasHooks } = this.#plan;
    if (isTerminalError(error) || signal.aborted || this.#attempt > retries) throw error;
    if (!isTimeoutError(error)) this.#lastError = error;
    const planned = nextDelay();
    const after = RetryAfterError.delayOf(error);
    this.#delay = after ?? planned;
    if (after === Number.POSITIVE_INFINITY && delay === undefined) throw error;
    // No hook is called if no attempt can follow. A `delay` hook can still choose 0.
    this.#requireTime(error, delay === undefined ? this.#delay : 0);
    if (hasHooks) return this.#callHooks(error);
  }

  async #callHooks(error: unknown): Promise<void> {
    const { signal, shouldRetry, delay, onRetry } = this.#plan;
    if (shouldRetry !== undefined && !(await shouldRetry(this.#context(error)))) throw error;
    if (delay !== undefined && !signal.aborted) {
      this.#requireTime(error, 0);
      const chosen = await delay(this.#context(error), this.#delay);
      this.#delay = requireNotNegative("options.delay()", chosen);
    }
    this.#requireTime(error, this.#delay);
    if (onRetry === undefined || signal.aborted) return;
    await onRetry(this.#context(error));
    this.#requireTime(error, this.#delay);
  }

  /** The delay before the next attempt, in milliseconds. */
  get delay(): number {
    return this.#delay;
  }

  get #elapsed(): number {
    return this.#plan.clock.monotonic() - this.#start;
  }

  /**
   * Throws if an attempt after `delay` would start too late. In whole nanoseconds, because the difference of
   * two instants has a rounding error.
   */
  #requireTime(error: unknown, delay: number): void {
    const { maxElapsed } = this.#plan;
    if (toNanoseconds(this.#elapsed + delay) > toNanoseconds(maxElapsed)) throw error;
  }

  #context(error: unknown): RetryContext {
    const { retries, signal } = this.#plan;
    return Object.freeze({
      attempt: this.#attempt,
      error,
      delay: this.#delay,
      elapsed: this.#elapsed,
      retriesLeft: retries - this.#attempt + 1,
      signal,
    });
  }
}
