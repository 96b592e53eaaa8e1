const CODE = "ERR_WAIT_EXCESSIVE_COLLISIONS";

/**
 * All attempts of a truncated binary exponential back-off have collided.
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
  readonly code: typeof CODE = CODE;
  /** Number of attempts. */
  readonly attempts: number;

  /** @param attempts - number of attempts */
  constructor(attempts: number) {
    super(`all ${attempts} attempts collided`);
    this.attempts = attempts;
  }
}

/**
 * Whether a value is an {@link ExcessiveCollisionsError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an `Error` with the code `ERR_WAIT_EXCESSIVE_COLLISIONS`
 *
 * @example
 * ```ts
 * import { isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * console.log(isExcessiveCollisionsError(new Error("no"))); // => false
 * ```
 */
export function isExcessiveCollisionsError(value: unknown): value is ExcessiveCollisionsError {
  return value instanceof Error && (value as Partial<ExcessiveCollisionsError>).code === CODE;
}
