import { RetryAfterError } from "./retry-after-error.ts";

/** Default of `maxRetryAfter` in milliseconds: 15 minutes. */
export const MAX_RETRY_AFTER = 900_000;

/** The delay that an error demands, up to `maxRetryAfter`. `Infinity` means never, whatever the maximum. */
export function retryAfterOf(error: unknown, maxRetryAfter: number): number | undefined {
  const after = RetryAfterError.delayOf(error);
  if (after === undefined || after === Number.POSITIVE_INFINITY) return after;
  return Math.min(after, maxRetryAfter);
}

/** The planned delay before the next attempt, or a longer one that the error demands. */
export function withRetryAfter(planned: number, error: unknown, maxRetryAfter: number): number {
  return Math.max(planned, retryAfterOf(error, maxRetryAfter) ?? 0);
}
