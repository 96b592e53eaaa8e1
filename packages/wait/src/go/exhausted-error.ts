const CODE = "ERR_WAIT_EXHAUSTED";

/**
 * A condition was still false after the last attempt it was given.
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
  readonly code: typeof CODE = CODE;
  /** How many attempts were made. */
  readonly attempts: number;

  /**
   * @param attempts - how many attempts were made
   * @param options - its `cause`: what the last attempt ended with, if it failed
   */
  constructor(attempts: number, options?: ErrorOptions) {
    super(`still false after ${attempts} attempts`, options);
    this.attempts = attempts;
  }
}

/**
 * Whether a value is an {@link ExhaustedError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of exhaustion
 *
 * @example
 * ```ts
 * import { isExhaustedError } from "@holdfast/wait/go";
 *
 * console.log(isExhaustedError(undefined)); // => false
 * ```
 */
export function isExhaustedError(value: unknown): value is ExhaustedError {
  return value instanceof Error && (value as Partial<ExhaustedError>).code === CODE;
}
