import { anything, findByCode, type Kinds, read, string, TIMEOUT_CODE } from "@holdfast/kit";

export const TIMEOUT_ERROR_OPTIONS: Kinds<TimeoutErrorOptions> = {
  cause: anything,
  message: string,
};

/** Options for {@link TimeoutError}. */
export interface TimeoutErrorOptions extends ErrorOptions {
  /**
   * The message of the error.
   *
   * @defaultValue `timed out after ${timeout} ms`
   */
  readonly message?: string | undefined;
}

/**
 * A wait exceeded its timeout. Its `cause` is the error of the last attempt, if any.
 *
 * `name` equals that of the platform's timeout errors, so code that compares names needs no change.
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
  readonly code: "ERR_WAIT_TIMEOUT" = TIMEOUT_CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_TIMEOUT" = TIMEOUT_CODE;
  /** The timeout, in milliseconds. */
  readonly timeout: number;

  /**
   * @param timeout - the timeout, in milliseconds
   * @param options - see {@link TimeoutErrorOptions}; `cause` is the error of the last attempt
   * @throws TypeError if `options` has another type or an unknown option
   */
  constructor(timeout: number, options: TimeoutErrorOptions = {}) {
    const { message = `timed out after ${timeout} ms` } = read(
      "options",
      options,
      "TimeoutError",
      TIMEOUT_ERROR_OPTIONS,
    );
    super(message, options);
    this.timeout = timeout;
  }
}

/**
 * Whether an error is a {@link TimeoutError}, of this copy of the package or another, or has one among
 * its causes.
 *
 * @param error - anything that was caught
 * @returns true if a wait exceeded its timeout
 *
 * @example
 * ```ts
 * import { isTimeoutError, TimeoutError } from "@holdfast/wait";
 *
 * const error = new TimeoutError(5_000);
 * console.log(isTimeoutError(error)); // => true
 * console.log(isTimeoutError(new Error("not ready", { cause: error }))); // => true
 * console.log(isTimeoutError(new Error("no"))); // => false
 * ```
 */
export function isTimeoutError(error: unknown): boolean {
  return findByCode(error, TIMEOUT_CODE) !== undefined;
}
