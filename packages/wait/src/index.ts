/**
 * Retries, polling, timeouts, exponential backoff and connections that come back.
 *
 * @packageDocumentation
 */

export { type ErrorClass, findError } from "@holdfast/clock";
export type { ConnectAttempt, ConnectOptions, ConnectRetry } from "./connect/connect-options.ts";
export { connectWithBackoff } from "./connect/connect-with-backoff.ts";
export { type KeepConnectedOptions, keepConnected } from "./connect/keep-connected.ts";
export { Backoff } from "./delay/backoff.ts";
export type { BackoffOptions } from "./delay/backoff-options.ts";
export type { BackoffStrategy, DelayFunc } from "./delay/backoff-strategy.ts";
export type { JitterForm } from "./delay/capped-jitter.ts";
export { Jitter, jitter } from "./delay/jitter.ts";
export { type Random, seededRandom } from "./delay/random.ts";
export { strategyOf } from "./delay/strategy-of.ts";
export { Deadline, type DeadlineOptions, timeLeft } from "./limit/deadline.ts";
export { type EndsWithinOptions, endsWithin } from "./limit/ends-within.ts";
export {
  isTimeoutError,
  TimeoutError,
  type TimeoutErrorOptions,
} from "./limit/timeout-error.ts";
export { type WithTimeoutOptions, withTimeout } from "./limit/with-timeout.ts";
export {
  type BackoffManager,
  type BackoffManagerOptions,
  backoffManager,
} from "./loop/backoff-manager.ts";
export { backoffUntil } from "./loop/backoff-until.ts";
export {
  ExponentialBackoffManager,
  type ExponentialBackoffManagerOptions,
} from "./loop/exponential-backoff-manager.ts";
export {
  JitteredBackoffManager,
  type JitteredBackoffManagerOptions,
} from "./loop/jittered-backoff-manager.ts";
export {
  type Done,
  type Loop,
  type LoopDelay,
  type LoopManager,
  type LoopWork,
  loop,
} from "./loop/loop.ts";
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
export { parseRetryAfter } from "./retry/parse-retry-after.ts";
export { retry } from "./retry/retry.ts";
export {
  isRetryAfterError,
  RetryAfterError,
  type RetryAfterErrorOptions,
} from "./retry/retry-after-error.ts";
export {
  RetryBudget,
  type RetryBudgetOptions,
  type RetryBudgetStatus,
  type RetryReservation,
} from "./retry/retry-budget.ts";
export type { Attempt, RetryContext, RetryHooks, RetryOptions } from "./retry/retry-options.ts";
export { isTerminalError, TerminalError } from "./retry/terminal-error.ts";
