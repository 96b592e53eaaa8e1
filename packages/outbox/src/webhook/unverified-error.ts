import { findByCode } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_UNVERIFIED";

/**
 * The reason why a webhook is not verified.
 *
 * | Reason | Meaning |
 * | --- | --- |
 * | `headers` | a header of the signature is missing, or is none of Standard Webhooks |
 * | `time` | it was signed too long ago, or lies in the future |
 * | `signature` | no signature was made with one of the secrets over this body |
 */
export type UnverifiedReason = "headers" | "time" | "signature";

/** A webhook is not verified: respond with status 401, and do nothing else. Its text holds no secret and no part of the body. */
export class UnverifiedError extends Error {
  override readonly name = "UnverifiedError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_UNVERIFIED" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_UNVERIFIED" = CODE;
  /** The reason. */
  readonly reason: UnverifiedReason;

  /**
   * @param reason - the reason
   * @param text - the same in words, with the next step
   */
  constructor(reason: UnverifiedReason, text: string) {
    super(`webhook not verified: ${text}`);
    this.reason = reason;
  }
}

/**
 * Whether an error is an {@link UnverifiedError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isUnverifiedError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
