import { findByCode } from "@holdfast/clock/internal";

const CODE = "ERR_CONTROLLER_FORGOTTEN_LEASE";

/** A `RedisLock` grants no lease, because its server may have lost one that still lasts. */
export class ForgottenLeaseError extends Error {
  override readonly name = "ForgottenLeaseError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_FORGOTTEN_LEASE" = CODE;
  /** Time until the lock grants a lease, in milliseconds. */
  readonly remaining: number;

  /** @param lock - the description of the lock */
  constructor(lock: string, remaining: number) {
    super(`${lock} may have lost a lease when Redis restarted; it grants none for ${remaining} ms`);
    this.remaining = remaining;
  }
}

/**
 * Whether an error is a {@link ForgottenLeaseError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isForgottenLeaseError(error: unknown): boolean {
  return findForgottenLeaseError(error) !== undefined;
}

/**
 * The first {@link ForgottenLeaseError} among an error and its causes, of this copy of the package or another.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns the error, with its fields; undefined if there is none
 *
 * @example
 * ```ts
 * import { findForgottenLeaseError, ForgottenLeaseError } from "@holdfast/controller/redis-lock";
 *
 * const caught: unknown = new Error("no luck", { cause: new ForgottenLeaseError("redis:jobs", 5_000) });
 * console.log(findForgottenLeaseError(caught)?.remaining); // => 5000
 * ```
 */
export function findForgottenLeaseError(error: unknown): ForgottenLeaseError | undefined {
  return findByCode<ForgottenLeaseError>(error, CODE);
}
