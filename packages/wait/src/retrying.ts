import { requireNotNegative } from "@holdfast/clock/internal";
import type { Attempt } from "./attempt.ts";
import type { Loop } from "./loop.ts";
import { isPermanentError } from "./permanent-error.ts";
import type { RetryLimits } from "./retry-limits.ts";
import type { RetryContext, RetryHooks } from "./retry-options.ts";
import { isTimeoutError } from "./timeout-error.ts";
import { within } from "./within.ts";

/**
 * The loop of a retry: what it calls, whether a failure is followed by another attempt, and when.
 * Closures, because as a class it would weigh 100 bytes more, see ADR 0017.
 */
export function retrying<Value>(
  fn: (attempt: Attempt) => Value | PromiseLike<Value>,
  limits: RetryLimits,
  { shouldRetry, delay, onRetry }: RetryHooks,
): Loop<Value> {
  const { signal, clock, retries, maxElapsed, arm, next } = limits;
  const start = clock.monotonic();
  let attempt = 0;
  let wait = 0;
  // A timeout is no cause of the next one, or a thousand of them would make a chain of a thousand.
  const last: ErrorOptions = {};

  const elapsed = () => clock.monotonic() - start;
  const requireTime = (error: unknown): void => {
    if (maxElapsed < Number.POSITIVE_INFINITY && elapsed() + wait > maxElapsed) throw error;
  };
  const context = (error: unknown): RetryContext => {
    const retriesLeft = retries - attempt + 1;
    return Object.freeze({ attempt, error, delay: wait, elapsed: elapsed(), retriesLeft, signal });
  };
  const consult = async (error: unknown): Promise<void> => {
    const told = context(error);
    if (shouldRetry !== undefined && !(await shouldRetry(told))) throw error;
    if (delay !== undefined && !signal.aborted)
      wait = requireNotNegative("options.delay()", await delay(told, wait));
    requireTime(error);
    if (!signal.aborted) await onRetry?.(context(error));
    requireTime(error);
  };
  const call = (own: AbortSignal) => fn({ attempt: ++attempt, signal: own });
  const callWithin = () => within(limits, last, async (own) => call(own));

  return {
    run: limits.timeout < Number.POSITIVE_INFINITY ? callWithin : call,
    onError: (error, isStopped) => {
      if (isPermanentError(error)) throw error.cause;
      if (isStopped || attempt > retries) throw error;
      if (!isTimeoutError(error)) last.cause = error;
      wait = next();
      return (shouldRetry ?? delay ?? onRetry) ? consult(error) : requireTime(error);
    },
    manager: { backoff: () => arm(wait) },
    signal,
  };
}
