import { type Clock, realClock, type Timer } from "@holdfast/clock";
import { requireFunction, requireNotNegative, requireWhole } from "@holdfast/clock/internal";
import type { Attempt } from "./attempt.ts";
import type { BackoffOptions } from "./backoff.ts";
import type { BackoffManager } from "./backoff-manager.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { isPermanentError } from "./permanent-error.ts";
import { RearmedTimer } from "./rearmed-timer.ts";
import type { RetryContext, RetryHooks, RetryOptions } from "./retry-options.ts";
import { strategyOf } from "./strategy-of.ts";

const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 2, jitter: 0.5, cap: 30_000 };
const DEFAULT_RETRIES = 10;
const HOOKS = ["shouldRetry", "delay", "onRetry"] as const;

/** Where a retry stands: whether a failure is followed by another attempt, and when. */
export class Retrying implements BackoffManager {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #timer: RearmedTimer;
  readonly #next: DelayFunc;
  readonly #retries: number;
  readonly #maxElapsed: number;
  /** Undefined where there is none, so that nobody pays for what hooks are told. */
  readonly #hooks: RetryHooks | undefined;
  readonly #start: number;
  #attempt = 0;
  #delay = 0;

  constructor(options: RetryOptions, signal: AbortSignal) {
    const { clock = realClock, backoff = DEFAULT_BACKOFF } = options;
    const { maxElapsed = Number.POSITIVE_INFINITY } = options;
    const {
      retries = maxElapsed < Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : DEFAULT_RETRIES,
    } = options;
    this.#signal = signal;
    this.#clock = clock;
    this.#timer = new RearmedTimer("options.clock", clock);
    this.#next = strategyOf("options.backoff", backoff).delayFunc();
    this.#maxElapsed = requireNotNegative("options.maxElapsed", maxElapsed);
    this.#retries = requireWhole("options.retries", retries, 0);
    const hooks = HOOKS.filter((hook) => options[hook] !== undefined);
    for (const hook of hooks) requireFunction(`options.${hook}`, options[hook]);
    this.#hooks = hooks.length > 0 ? options : undefined;
    this.#start = clock.monotonic();
  }

  attempt(): Attempt {
    return { attempt: ++this.#attempt, signal: this.#signal };
  }

  /** Returns if there is to be another attempt, and throws what the retry ends with otherwise. */
  onError(error: unknown): Promise<void> | undefined {
    if (isPermanentError(error)) throw error.cause;
    if (this.#signal.aborted || this.#attempt > this.#retries) throw error;
    this.#delay = this.#next();
    if (this.#hooks !== undefined) return this.#consult(error, this.#hooks);
    this.#requireTime(error);
    return undefined;
  }

  backoff(): Timer {
    return this.#timer.arm(this.#delay);
  }

  async #consult(error: unknown, { shouldRetry, delay, onRetry }: RetryHooks): Promise<void> {
    const context = this.#context(error);
    if (shouldRetry !== undefined && !(await shouldRetry(context))) throw error;
    if (delay !== undefined)
      this.#delay = requireNotNegative("options.delay()", await delay(context, context.delay));
    this.#requireTime(error);
    if (onRetry !== undefined && !this.#signal.aborted) await onRetry(this.#context(error));
  }

  #context(error: unknown): RetryContext {
    return Object.freeze({
      attempt: this.#attempt,
      error,
      delay: this.#delay,
      elapsed: this.#elapsed(),
      retriesLeft: this.#retries - this.#attempt + 1,
      signal: this.#signal,
    });
  }

  #requireTime(error: unknown): void {
    if (this.#maxElapsed === Number.POSITIVE_INFINITY) return;
    if (this.#elapsed() + this.#delay > this.#maxElapsed) throw error;
  }

  #elapsed(): number {
    return this.#clock.monotonic() - this.#start;
  }
}
