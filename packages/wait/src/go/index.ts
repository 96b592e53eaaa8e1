/**
 * The functions of `apimachinery/wait`, exact to the nanosecond.
 *
 * @packageDocumentation
 */

export type { PeriodicOptions } from "../loop/loop-options.ts";
export type { Condition, ConditionOptions, PollUntilOptions } from "./condition-options.ts";
export { DefaultBackoff, DefaultRetry } from "./default-retry.ts";
export { delayUntil } from "./delay-until.ts";
export { ExhaustedError, isExhaustedError } from "./exhausted-error.ts";
export { type ExponentialBackoffOptions, exponentialBackoff } from "./exponential-backoff.ts";
export { forever } from "./forever.ts";
export { Group } from "./group.ts";
export { isConflict } from "./is-conflict.ts";
export { isInterrupted } from "./is-interrupted.ts";
export { type JitterUntilOptions, jitterUntil } from "./jitter-until.ts";
export { KeyedBackoff, type KeyedBackoffOptions } from "./keyed-backoff.ts";
export { nonSlidingUntil } from "./non-sliding-until.ts";
export { type OnErrorOptions, onError } from "./on-error.ts";
export { pollUntil } from "./poll-until.ts";
export { retryOnConflict } from "./retry-on-conflict.ts";
export { until } from "./until.ts";
