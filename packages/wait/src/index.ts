export { Backoff, type BackoffOptions } from "./backoff.ts";
export { type BackoffManager, managerOf } from "./backoff-manager.ts";
export type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
export { backoffUntil } from "./backoff-until.ts";
export {
  BinaryExponentialBackoff,
  type BinaryExponentialBackoffOptions,
} from "./binary-exponential-backoff.ts";
export type { ConnectAttempt, ConnectOptions, ConnectRetry } from "./connect-options.ts";
export { connectWithBackoff } from "./connect-with-backoff.ts";
export {
  DecorrelatedJitterBackoff,
  type DecorrelatedJitterBackoffOptions,
} from "./decorrelated-jitter-backoff.ts";
export { EqualJitterBackoff } from "./equal-jitter-backoff.ts";
export {
  ExcessiveCollisionsError,
  isExcessiveCollisionsError,
} from "./excessive-collisions-error.ts";
export {
  ExhaustedError,
  type ExhaustedErrorOptions,
  isExhaustedError,
} from "./exhausted-error.ts";
export { expectedSlots } from "./expected-slots.ts";
export {
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
} from "./exponential-backoff-manager.ts";
export { forever } from "./forever.ts";
export { FullJitterBackoff } from "./full-jitter-backoff.ts";
export type { GrowthOptions } from "./growth-options.ts";
export { GrpcBackoff, type GrpcBackoffOptions, grpcBackoff } from "./grpc-backoff.ts";
export { Jitter, jitter } from "./jitter.ts";
export { type JitterUntilOptions, jitterUntil } from "./jitter-until.ts";
export {
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
} from "./jittered-backoff-manager.ts";
export { type KeepConnectedOptions, keepConnected } from "./keep-connected.ts";
export type { LoopOptions, PeriodicOptions } from "./loop-options.ts";
export { nonSlidingUntil } from "./non-sliding-until.ts";
export { type Random, seededRandom } from "./random.ts";
export {
  SymmetricJitterBackoff,
  type SymmetricJitterBackoffOptions,
} from "./symmetric-jitter-backoff.ts";
export { isTimeoutError, TimeoutError, type TimeoutErrorOptions } from "./timeout-error.ts";
export { until } from "./until.ts";
