import { findByCode } from "@holdfast/kit";

/** How a lease was lost: see {@link LeadershipLostError}. */
export type LeadershipLoss = "expired" | "replaced";

const CODE = "ERR_CONTROLLER_LEADERSHIP_LOST";

const TEXTS = {
  expired: "the lease was not renewed in time",
  replaced: "another process holds the lease",
} satisfies Record<LeadershipLoss, string>;

/**
 * Reason of `lost` when a leader has lost its lease, and of its `signal` if that had not aborted before.
 *
 * | `loss` | Cause |
 * | --- | --- |
 * | `"expired"` | no renewal succeeded within the renew deadline |
 * | `"replaced"` | the lock holds the lease of another process |
 *
 * @example
 * ```ts
 * import { isLeadershipLostError, LeadershipLostError } from "@holdfast/controller";
 *
 * const error = new LeadershipLostError("expired");
 * console.log(error.message, isLeadershipLostError(error)); // => the lease was not renewed in time true
 * ```
 */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_LEADERSHIP_LOST" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CONTROLLER_LEADERSHIP_LOST" = CODE;
  /** How the lease was lost. */
  readonly loss: LeadershipLoss;

  /** @param loss - how the lease was lost */
  constructor(loss: LeadershipLoss) {
    super(TEXTS[loss]);
    this.loss = loss;
  }
}

/**
 * Whether an error is a {@link LeadershipLostError}, of this copy of the package or another, or has
 * one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if work ended because its process no longer leads
 *
 * @example
 * ```ts
 * import { isLeadershipLostError } from "@holdfast/controller";
 *
 * console.log(isLeadershipLostError(new Error("no"))); // => false
 * ```
 */
export function isLeadershipLostError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
