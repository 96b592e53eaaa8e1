import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  requireAbove,
  requireHooks,
  requireNotNegative,
  requireOptions,
  requireSignal,
  requireWhole,
} from "@holdfast/clock/internal";
import type { BackoffOptions } from "./backoff-options.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { rearmedTimer } from "./rearmed-timer.ts";
import type { RetryOptions } from "./retry-options.ts";
import { strategyOf } from "./strategy-of.ts";

const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 2, jitter: 0.5, cap: 30_000 };

/** {@link RetryOptions}, checked, with their defaults. */
export interface RetryLimits {
  /** One that never aborts where none is given. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly retries: number;
  readonly maxElapsed: number;
  /** What {@link RetryOptions.attemptTimeout} says. */
  readonly timeout: number;
  readonly arm: (delay: number) => Timer;
  readonly next: DelayFunc;
}

export function retryLimits(options: RetryOptions): RetryLimits {
  requireOptions("options", options);
  const {
    signal = new AbortController().signal,
    clock = realClock,
    backoff = DEFAULT_BACKOFF,
    attemptTimeout: timeout = Number.POSITIVE_INFINITY,
    maxElapsed = Number.POSITIVE_INFINITY,
    retries = maxElapsed < Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : 10,
  } = options;
  requireSignal("options.signal", signal);
  const arm = rearmedTimer("options.clock", clock);
  const next = strategyOf("options.backoff", backoff).delayFunc();
  requireNotNegative("options.maxElapsed", maxElapsed);
  requireWhole("options.retries", retries, 0);
  requireHooks("options", options, ["shouldRetry", "delay", "onRetry"]);
  requireAbove("options.attemptTimeout", timeout, 0);
  return { signal, clock, retries, maxElapsed, timeout, arm, next };
}
