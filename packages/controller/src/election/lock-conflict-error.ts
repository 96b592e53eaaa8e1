const CODE = "ERR_LOCK_CONFLICT";

/**
 * A write to a lock failed because the record has changed since it was read.
 *
 * A lock of your own rejects with this error, or with any error that has its `code`.
 *
 * @example
 * ```ts
 * import { isLockConflictError, LockConflictError } from "@holdfast/controller";
 *
 * const error = new LockConflictError("memory");
 * console.log(error.message, isLockConflictError(error)); // => memory: the record has changed since it was read true
 * ```
 */
export class LockConflictError extends Error {
  override readonly name = "LockConflictError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;

  /** @param lock - description of the lock */
  constructor(lock: string) {
    super(`${lock}: the record has changed since it was read`);
  }
}

/**
 * Whether a value is a {@link LockConflictError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of a conflict
 *
 * @example
 * ```ts
 * import { isLockConflictError } from "@holdfast/controller";
 *
 * console.log(isLockConflictError(new Error("no"))); // => false
 * ```
 */
export function isLockConflictError(value: unknown): value is LockConflictError {
  return value instanceof Error && (value as Partial<LockConflictError>).code === CODE;
}
