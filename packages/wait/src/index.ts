/**
 * Retries, polling, timeouts and exponential backoff.
 *
 * @packageDocumentation
 */

export { type ErrorClass, findError } from "@holdfast/clock";
export { Backoff } from "./delay/backoff.ts";
export type { BackoffOptions } from "./delay/backoff-options.ts";
export type { BackoffStrategy, DelayFunc } from "./delay/backoff-strategy.ts";
export type { JitterForm } from "./delay/capped-jitter.ts";
export { Jitter, jitter } from "./delay/jitter.ts";
export type { Random } from "./delay/random.ts";
export {
  isTimeoutError,
  TimeoutError,
  type TimeoutErrorOptions,
} from "./limit/timeout-error.ts";
export { type WithTimeoutOptions, withTimeout } from "./limit/with-timeout.ts";
export type { BackoffManager, BackoffManagerOptions } from "./loop/backoff-manager.ts";
export { backoffUntil } from "./loop/backoff-until.ts";
export {
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
} from "./loop/exponential-backoff-manager.ts";
export {
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
} from "./loop/jittered-backoff-manager.ts";
export type { LoopOptions } from "./loop/loop-options.ts";
export { type EveryOptions, every } from "./poll/every.ts";
export { type PollOptions, poll, type Truthy } from "./poll/poll.ts";
export type { TickIterator } from "./poll/ticks.ts";
export {
  type ExpectOkOptions,
  expectOk,
  type FetchRequest,
  type FetchResponse,
  HttpError,
  isHttpError,
} from "./retry/expect-ok.ts";
export { retry } from "./retry/retry.ts";
export {
  isRetryAfterError,
  RetryAfterError,
  type RetryAfterErrorOptions,
} from "./retry/retry-after-error.ts";
export type { Attempt, RetryContext, RetryHooks, RetryOptions } from "./retry/retry-options.ts";
export { isTerminalError, TerminalError } from "./retry/terminal-error.ts";
