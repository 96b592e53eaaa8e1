import { requireNotNegative } from "@holdfast/clock/internal";
import type { Attempt } from "./attempt.ts";
import type { Loop } from "./loop.ts";
import { isPermanentError } from "./permanent-error.ts";
import type { RetryLimits } from "./retry-limits.ts";
import type { RetryContext } from "./retry-options.ts";
import { isTimeoutError } from "./timeout-error.ts";
import { within } from "./within.ts";

/**
 * The loop of a retry: what it calls, whether a failure is followed by another attempt, and when.
 * Closures, because as a class it would weigh 100 bytes more, see ADR 0017.
 */
export function retrying<Value>(
  fn: (attempt: Attempt) => Value | PromiseLike<Value>,
  limits: RetryLimits,
): Loop<Value> {
  const { signal, clock, retries, maxElapsed, arm, next, shouldRetry, delay, onRetry } = limits;
  const start = clock.monotonic();
  let attempt = 0;
  let wait = 0;
  // A timeout is no cause of the next one, or a thousand of them would make a chain of a thousand.
  let last: ErrorOptions | undefined;

  const elapsed = () => clock.monotonic() - start;
  const requireTime = (error: unknown): void => {
    if (maxElapsed < Number.POSITIVE_INFINITY && elapsed() + wait > maxElapsed) throw error;
  };
  const context = (error: unknown): RetryContext => {
    const retriesLeft = retries - attempt + 1;
    return Object.freeze({ attempt, error, delay: wait, elapsed: elapsed(), retriesLeft, signal });
  };
  const consult = async (error: unknown): Promise<void> => {
    if (signal.aborted) throw error;
    const told = context(error);
    if (shouldRetry !== undefined && !(await shouldRetry(told))) throw error;
    if (delay !== undefined) wait = requireNotNegative("options.delay()", await delay(told, wait));
    requireTime(error);
    if (!signal.aborted) await onRetry?.(context(error));
  };
  const call = (own: AbortSignal) => fn({ attempt: ++attempt, signal: own });
  const facts = () => last;

  return {
    run:
      limits.timeout < Number.POSITIVE_INFINITY
        ? () => within(limits, facts, async (own) => call(own))
        : call,
    onError: (error) => {
      if (isPermanentError(error)) throw error.cause;
      if (attempt > retries) throw error;
      if (!isTimeoutError(error)) last = { cause: error };
      wait = next();
      return (shouldRetry ?? delay ?? onRetry) ? consult(error) : requireTime(error);
    },
    manager: { backoff: () => arm(wait) },
    signal,
  };
}
