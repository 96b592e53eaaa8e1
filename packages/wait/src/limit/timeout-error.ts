const CODE = "ERR_WAIT_TIMEOUT";

/**
 * A wait took longer than it was given. Its `cause` is the error of the last attempt, if any.
 *
 * `name` is that of the platform's own timeouts, so code that looks at names needs no change.
 *
 * @example
 * ```ts
 * import { isTimeoutError, TimeoutError } from "@holdfast/wait";
 *
 * const error = new TimeoutError(5_000, { cause: new Error("connection refused") });
 * console.log(error.message, isTimeoutError(error)); // => timed out after 5000 ms true
 * ```
 */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;
  /** How long was waited at most, in milliseconds. */
  readonly timeout: number;

  /**
   * @param timeout - how long was waited at most, in milliseconds
   * @param options - its `cause`: what the last attempt ended with, if one ended
   */
  constructor(timeout: number, options?: ErrorOptions) {
    super(`timed out after ${timeout} ms`, options);
    this.timeout = timeout;
  }
}

/**
 * Whether a value is a {@link TimeoutError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of a timeout
 *
 * @example
 * ```ts
 * import { isTimeoutError } from "@holdfast/wait";
 *
 * console.log(isTimeoutError(new Error("no"))); // => false
 * ```
 */
export function isTimeoutError(value: unknown): value is TimeoutError {
  return value instanceof Error && (value as Partial<TimeoutError>).code === CODE;
}
