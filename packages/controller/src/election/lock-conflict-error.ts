import { findByCode } from "@holdfast/kit";

const CODE = "ERR_CONTROLLER_LOCK_CONFLICT";

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
  readonly code: "ERR_CONTROLLER_LOCK_CONFLICT" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CONTROLLER_LOCK_CONFLICT" = CODE;

  /** @param lock - description of the lock */
  constructor(lock: string) {
    super(`${lock}: the record has changed since it was read`);
  }
}

/**
 * Whether an error is a {@link LockConflictError}, of this copy of the package or another, or has
 * one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if another process wrote the record of a lock first
 *
 * @example
 * ```ts
 * import { isLockConflictError } from "@holdfast/controller";
 *
 * console.log(isLockConflictError(new Error("no"))); // => false
 * ```
 */
export function isLockConflictError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
