/**
 * Retry, repeat and poll for rxjs streams.
 *
 * @packageDocumentation
 */

export { type BackoffDelayOptions, backoffDelay } from "./backoff-delay.ts";
export { backoffUntil$ } from "./backoff-until.ts";
export { type PollBackoffOptions, pollBackoff } from "./poll-backoff.ts";
export { type RepeatBackoffOptions, repeatBackoff } from "./repeat-backoff.ts";
export {
  type RetryBackoffContext,
  type RetryBackoffOptions,
  retryBackoff,
} from "./retry-backoff.ts";
