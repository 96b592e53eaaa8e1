import { requireDelay } from "@holdfast/clock/internal";
import { hasCode } from "./has-code.ts";

/** The facts of a {@link RetryAfterError}. */
export interface RetryAfterErrorOptions {
  /** What is behind it. */
  readonly cause?: unknown;
}

const CODE = "ERR_CONTROLLER_RETRY_AFTER";

/**
 * Thrown by a reconciler that knows when to try again, from a `Retry-After` header for example. It
 * takes the place of the limiter's delay, and is a failure like any other.
 *
 * @example
 * ```ts
 * import { isRetryAfterError, RetryAfterError } from "@holdfast/controller";
 *
 * const error = new RetryAfterError(30_000, { cause: new Error("429") });
 * console.log(isRetryAfterError(error), error.message); // => true retry after 30000 ms
 * ```
 */
export class RetryAfterError extends Error {
  /** Always `"RetryAfterError"`. */
  override readonly name = "RetryAfterError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;
  /** How long to wait from now, in milliseconds. */
  readonly after: number;

  /**
   * @param after - how long to wait, in milliseconds; below 0 means 0, `Infinity` means until
   * something happens
   * @param options - see {@link RetryAfterErrorOptions}
   * @throws RangeError if `after` is NaN, TypeError if it is no number
   */
  constructor(after: number, options?: RetryAfterErrorOptions) {
    const delay = requireDelay("after", after);
    super(`retry after ${delay} ms`, options);
    this.after = delay;
  }
}

/**
 * Whether a value is a {@link RetryAfterError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of one
 *
 * @example
 * ```ts
 * import { isRetryAfterError } from "@holdfast/controller";
 *
 * console.log(isRetryAfterError(new Error("429"))); // => false
 * ```
 */
export function isRetryAfterError(value: unknown): value is RetryAfterError {
  return hasCode(value, CODE);
}
