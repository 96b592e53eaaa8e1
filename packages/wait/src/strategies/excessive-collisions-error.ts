import { findByCode } from "@holdfast/clock/internal";

const CODE = "ERR_WAIT_EXCESSIVE_COLLISIONS";

/**
 * All attempts of a truncated binary exponential backoff have collided.
 *
 * @example
 * ```ts
 * import { ExcessiveCollisionsError, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * const error = new ExcessiveCollisionsError(16);
 * console.log(error.message, isExcessiveCollisionsError(error));
 * // => all 16 attempts collided true
 * ```
 */
export class ExcessiveCollisionsError extends Error {
  override readonly name = "ExcessiveCollisionsError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_EXCESSIVE_COLLISIONS" = CODE;
  /** Number of attempts. */
  readonly attempts: number;

  /** @param attempts - number of attempts */
  constructor(attempts: number) {
    super(`all ${attempts} attempts collided`);
    this.attempts = attempts;
  }
}

/**
 * Whether an error is an {@link ExcessiveCollisionsError}, of this copy of the package or another, or has one among
 * its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if all attempts of a truncated binary exponential backoff collided
 *
 * @example
 * ```ts
 * import { isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * console.log(isExcessiveCollisionsError(new Error("no"))); // => false
 * ```
 */
export function isExcessiveCollisionsError(error: unknown): boolean {
  return findExcessiveCollisionsError(error) !== undefined;
}

/**
 * The first {@link ExcessiveCollisionsError} among an error and its causes, of this copy of the package or another.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns the error, with its fields; undefined if there is none
 *
 * @example
 * ```ts
 * import { ExcessiveCollisionsError, findExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * const caught: unknown = new Error("no luck", { cause: new ExcessiveCollisionsError(16) });
 * console.log(findExcessiveCollisionsError(caught)?.attempts); // => 16
 * ```
 */
export function findExcessiveCollisionsError(error: unknown): ExcessiveCollisionsError | undefined {
  return findByCode<ExcessiveCollisionsError>(error, CODE);
}
