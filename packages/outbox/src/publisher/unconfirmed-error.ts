import { anything, findByCode, type Kinds, read } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_UNCONFIRMED";

export const UNCONFIRMED_ERROR_OPTIONS: Kinds<UnconfirmedErrorOptions> = { cause: anything };

/** The facts of an {@link UnconfirmedError}. */
export interface UnconfirmedErrorOptions {
  /** The underlying error. */
  readonly cause?: unknown;
}

/** A broker did not confirm a message: it may have it or not. */
export class UnconfirmedError extends Error {
  override readonly name = "UnconfirmedError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_UNCONFIRMED" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_UNCONFIRMED" = CODE;

  /** @param why - the event that prevented the confirmation */
  constructor(why: string, options: UnconfirmedErrorOptions = {}) {
    read("options", options, "UnconfirmedError", UNCONFIRMED_ERROR_OPTIONS);
    super(`message not confirmed: ${why}`, options);
  }
}

/**
 * Whether an error is an {@link UnconfirmedError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isUnconfirmedError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
