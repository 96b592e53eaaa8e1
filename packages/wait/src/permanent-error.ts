const CODE = "ERR_WAIT_PERMANENT";

/** What {@link permanent} makes. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;
  /** What the attempt ended with: what {@link retry} and {@link poll} reject with. */
  override readonly cause: unknown;

  /** @param cause - what the attempt ended with */
  constructor(cause: unknown) {
    super("a permanent error, thrown where nothing retries");
    this.cause = cause;
  }
}

/**
 * Marks an error as one that no further attempt can mend. Throw it in a function that is retried
 * or polled: {@link retry} and {@link poll} then reject at once, with `error` itself.
 *
 * Take {@link RetryOptions.shouldRetry} where the error alone tells; this, where only the function
 * knows.
 *
 * @param error - what they are to reject with; anything that can be thrown
 * @returns an error whose `cause` is `error`
 *
 * Source: `Permanent` of github.com/cenkalti/backoff.
 *
 * @example
 * ```ts
 * import { permanent, retry } from "@holdfast/wait";
 *
 * const notFound = new Error("404");
 * let calls = 0;
 * const page = retry(() => {
 *   calls++;
 *   throw permanent(notFound);
 * });
 * console.log(await page.catch((error: unknown) => error === notFound), calls); // => true 1
 * ```
 */
export function permanent(error: unknown): PermanentError {
  return new PermanentError(error);
}

/**
 * Whether a value was made by {@link permanent}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of a permanent one
 *
 * @example
 * ```ts
 * import { isPermanentError, permanent } from "@holdfast/wait";
 *
 * console.log(isPermanentError(permanent("404")), isPermanentError(new Error("404"))); // => true false
 * ```
 */
export function isPermanentError(value: unknown): value is PermanentError {
  return value instanceof Error && (value as Partial<PermanentError>).code === CODE;
}
