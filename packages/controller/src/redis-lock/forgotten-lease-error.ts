import { findByCode } from "@holdfast/clock/internal";

const CODE = "ERR_FORGOTTEN_LEASE";

/** A `RedisLock` grants no lease, because its server may have lost one that still lasts. */
export class ForgottenLeaseError extends Error {
  override readonly name = "ForgottenLeaseError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;
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
  return findByCode(error, CODE) !== undefined;
}
