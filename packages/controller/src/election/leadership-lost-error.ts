/** Why a term was ended from outside: see {@link LeadershipLostError}. */
export type LeadershipLoss = "expired" | "replaced" | "resigned";

const CODE = "ERR_LEADERSHIP_LOST";

const TEXTS = {
  expired: "the lease was not renewed in time",
  replaced: "somebody else holds the lease",
  resigned: "resigned",
} satisfies Record<LeadershipLoss, string>;

/**
 * The reason that the work of a leader finds in its signal when it leads no more.
 *
 * | `loss` | What has happened |
 * | --- | --- |
 * | `"expired"` | no renewal succeeded within the renew deadline |
 * | `"replaced"` | somebody else was seen to hold the lease |
 * | `"resigned"` | `resign()` was called |
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
  readonly code: typeof CODE = CODE;
  /** What has happened. */
  readonly loss: LeadershipLoss;

  /** @param loss - what has happened */
  constructor(loss: LeadershipLoss) {
    super(TEXTS[loss]);
    this.loss = loss;
  }
}

/**
 * Whether a value is a {@link LeadershipLostError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of lost leadership
 *
 * @example
 * ```ts
 * import { isLeadershipLostError } from "@holdfast/controller";
 *
 * console.log(isLeadershipLostError(new Error("no"))); // => false
 * ```
 */
export function isLeadershipLostError(value: unknown): value is LeadershipLostError {
  return value instanceof Error && (value as Partial<LeadershipLostError>).code === CODE;
}
