const CODE = "ERR_WAIT_EXCESSIVE_COLLISIONS";

/**
 * A truncated binary exponential back-off has used up its attempts.
 *
 * @example
 * ```ts
 * import { ExcessiveCollisionsError, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * const error = new ExcessiveCollisionsError(16);
 * console.log(error.message, isExcessiveCollisionsError(error));
 * // => all of 16 attempts collided true
 * ```
 */
export class ExcessiveCollisionsError extends Error {
  override readonly name = "ExcessiveCollisionsError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;
  /** How many attempts were made. */
  readonly attempts: number;

  /** @param attempts - how many attempts were made */
  constructor(attempts: number) {
    super(`all of ${attempts} attempts collided`);
    this.attempts = attempts;
  }
}

/**
 * Whether a value is an {@link ExcessiveCollisionsError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of excessive collisions
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
