import { findByCode } from "./error-chain.ts";

/** The code of `RetryAfterError` of `@holdfast/wait`. */
export const RETRY_AFTER_CODE = "ERR_WAIT_RETRY_AFTER";

/** Default of `maxRetryAfter` in milliseconds: 15 minutes. */
export const MAX_RETRY_AFTER = 900_000;

/** The delay in milliseconds that an error or one of its causes names; undefined if none does. */
export function retryAfterIn(error: unknown): number | undefined {
  try {
    const found = findByCode<{ readonly after?: unknown }>(error, RETRY_AFTER_CODE);
    const after = found?.after;
    return typeof after === "number" && after >= 0 ? after : undefined;
  } catch {
    return undefined; // a getter that throws names no delay
  }
}

/** The delay that an error demands, up to `maxRetryAfter`. `Infinity` means never, whatever the maximum. */
export function retryAfterOf(error: unknown, maxRetryAfter: number): number | undefined {
  const after = retryAfterIn(error);
  if (after === undefined || after === Number.POSITIVE_INFINITY) return after;
  return Math.min(after, maxRetryAfter);
}
