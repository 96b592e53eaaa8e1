import { findByCode, read } from "@holdfast/kit";
import { ERROR_OPTIONS } from "../retry/terminal-error.ts";

const CODE = "ERR_WAIT_EXHAUSTED";

/**
 * A condition was still false after the last attempt.
 *
 * @example
 * ```ts
 * import { ExhaustedError, isExhaustedError } from "@holdfast/wait/go";
 *
 * const error = new ExhaustedError(4);
 * console.log(error.message, isExhaustedError(error)); // => still false after 4 attempts true
 * ```
 */
export class ExhaustedError extends Error {
  override readonly name = "ExhaustedError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_EXHAUSTED" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_EXHAUSTED" = CODE;
  /** Number of attempts. */
  readonly attempts: number;

  /**
   * @param attempts - number of attempts
   * @param options - the `cause`: the error of the last attempt, if it failed
   */
  constructor(attempts: number, options: ErrorOptions = {}) {
    read("options", options, "ExhaustedError", ERROR_OPTIONS);
    super(`still false after ${attempts} attempts`, options);
    this.attempts = attempts;
  }
}

/**
 * Whether an error is an {@link ExhaustedError}, of this copy of the package or another, or has one among
 * its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if a condition was still false after the last attempt
 *
 * @example
 * ```ts
 * import { isExhaustedError } from "@holdfast/wait/go";
 *
 * console.log(isExhaustedError(undefined)); // => false
 * ```
 */
export function isExhaustedError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
