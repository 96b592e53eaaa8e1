/**
 * The functions of `apimachinery/wait`, exact to the nanosecond.
 *
 * @packageDocumentation
 */

export type { PeriodicOptions } from "../loop/loop-options.ts";
export { isConflict } from "../retry/is-conflict.ts";
export type { Condition, ConditionOptions, PollUntilOptions } from "./condition-options.ts";
export { ExhaustedError, isExhaustedError } from "./exhausted-error.ts";
export { type ExponentialBackoffOptions, exponentialBackoff } from "./exponential-backoff.ts";
export { Group } from "./group.ts";
export { isInterrupted } from "./is-interrupted.ts";
export { KeyedBackoff, type KeyedBackoffOptions } from "./keyed-backoff.ts";
export { DefaultBackoff, DefaultRetry, type OnErrorOptions, onError } from "./on-error.ts";
export { delayUntil, pollUntil } from "./poll-until.ts";
export { retryOnConflict } from "./retry-on-conflict.ts";
export { forever, type JitterUntilOptions, jitterUntil, nonSlidingUntil, until } from "./until.ts";
