export type { Attempt } from "./attempt.ts";
export { AttemptBackoff, type AttemptBackoffOptions } from "./attempt-backoff.ts";
export { Backoff } from "./backoff.ts";
export { type BackoffManager, managerOf } from "./backoff-manager.ts";
export type { BackoffOptions } from "./backoff-options.ts";
export type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
export { backoffUntil } from "./backoff-until.ts";
export {
  BinaryExponentialBackoff,
  type BinaryExponentialBackoffOptions,
} from "./binary-exponential-backoff.ts";
export type { Condition, ConditionOptions, PollUntilOptions } from "./condition-options.ts";
export type { ConnectAttempt, ConnectOptions, ConnectRetry } from "./connect-options.ts";
export { connectWithBackoff } from "./connect-with-backoff.ts";
export { ConstantBackoff, type ConstantBackoffOptions } from "./constant-backoff.ts";
export {
  DecorrelatedJitterBackoff,
  type DecorrelatedJitterBackoffOptions,
} from "./decorrelated-jitter-backoff.ts";
export { DefaultBackoff, DefaultRetry } from "./default-retry.ts";
export { delayUntil } from "./delay-until.ts";
export { EqualJitterBackoff } from "./equal-jitter-backoff.ts";
export { type EveryOptions, every } from "./every.ts";
export {
  ExcessiveCollisionsError,
  isExcessiveCollisionsError,
} from "./excessive-collisions-error.ts";
export { ExhaustedError, isExhaustedError } from "./exhausted-error.ts";
export { expectedSlots } from "./expected-slots.ts";
export { type ExponentialBackoffOptions, exponentialBackoff } from "./exponential-backoff.ts";
export {
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
} from "./exponential-backoff-manager.ts";
export { FibonacciBackoff, type FibonacciBackoffOptions } from "./fibonacci-backoff.ts";
export { forever } from "./forever.ts";
export { FullJitterBackoff } from "./full-jitter-backoff.ts";
export { Group } from "./group.ts";
export type { GrowthOptions } from "./growth-options.ts";
export { GrpcBackoff, type GrpcBackoffOptions, grpcBackoff } from "./grpc-backoff.ts";
export { interrupted } from "./interrupted.ts";
export { isConflict } from "./is-conflict.ts";
export { Jitter, jitter } from "./jitter.ts";
export { type JitterUntilOptions, jitterUntil } from "./jitter-until.ts";
export {
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
} from "./jittered-backoff-manager.ts";
export { type KeepConnectedOptions, keepConnected } from "./keep-connected.ts";
export { KeyedBackoff, type KeyedBackoffOptions } from "./keyed-backoff.ts";
export { LinearBackoff, type LinearBackoffOptions } from "./linear-backoff.ts";
export type { LoopOptions, PeriodicOptions } from "./loop-options.ts";
export { nonSlidingUntil } from "./non-sliding-until.ts";
export { type OnErrorOptions, onError } from "./on-error.ts";
export { isPermanentError, type PermanentError, permanent } from "./permanent-error.ts";
export { type PollOptions, poll, type Truthy } from "./poll.ts";
export { pollUntil } from "./poll-until.ts";
export type { Random } from "./random.ts";
export { retry } from "./retry.ts";
export { retryAfter } from "./retry-after.ts";
export { retryOnConflict } from "./retry-on-conflict.ts";
export type { RetryContext, RetryHooks, RetryOptions } from "./retry-options.ts";
export { seededRandom } from "./seeded-random.ts";
export type { SpreadOptions } from "./spread-options.ts";
export {
  SymmetricJitterBackoff,
  type SymmetricJitterBackoffOptions,
} from "./symmetric-jitter-backoff.ts";
export { isTimeoutError, TimeoutError } from "./timeout-error.ts";
export { until } from "./until.ts";
