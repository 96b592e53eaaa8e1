export { Backoff, type BackoffOptions } from "./backoff.ts";
export { type BackoffManager, managerOf } from "./backoff-manager.ts";
export type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
export { backoffUntil } from "./backoff-until.ts";
export {
  ExhaustedError,
  type ExhaustedErrorOptions,
  isExhaustedError,
} from "./exhausted-error.ts";
export {
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
} from "./exponential-backoff-manager.ts";
export { forever } from "./forever.ts";
export { Jitter, jitter } from "./jitter.ts";
export { type JitterUntilOptions, jitterUntil } from "./jitter-until.ts";
export {
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
} from "./jittered-backoff-manager.ts";
export type { LoopOptions, PeriodicOptions } from "./loop-options.ts";
export { nonSlidingUntil } from "./non-sliding-until.ts";
export { type Random, seededRandom } from "./random.ts";
export { isTimeoutError, TimeoutError, type TimeoutErrorOptions } from "./timeout-error.ts";
export { until } from "./until.ts";
