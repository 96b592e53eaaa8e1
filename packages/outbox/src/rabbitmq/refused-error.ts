import { anything, findByCode, type Kinds, read } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_REFUSED";

export const REFUSED_ERROR_OPTIONS: Kinds<RefusedErrorOptions> = { cause: anything };

/** Options for a {@link RefusedError}. */
export interface RefusedErrorOptions {
  /** The error of the channel. */
  readonly cause?: unknown;
}

/**
 * A broker refused a message with a channel error, and does not keep it: its user may not write to the
 * exchange (403), or the message is above the broker's limit of size (406), for example.
 */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_REFUSED" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_REFUSED" = CODE;
  /** The reply code of AMQP, `403` for example. */
  readonly replyCode: number;

  /** @param replyCode - the reply code of AMQP */
  constructor(replyCode: number, options: RefusedErrorOptions = {}) {
    read("options", options, "RefusedError", REFUSED_ERROR_OPTIONS);
    super(`the broker refused the message with code ${replyCode}`, options);
    this.replyCode = replyCode;
  }
}

/**
 * Whether an error is a {@link RefusedError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isRefusedError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
