import { anything, findByCode, type Kinds, read, text } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_REFUSED";

export const REFUSED_ERROR_OPTIONS: Kinds<RefusedErrorOptions> = {
  reason: text,
  cause: anything,
};

/** Options for a {@link RefusedError}. */
export interface RefusedErrorOptions {
  /** The reason in words, with the next step. Not empty. */
  readonly reason?: string | undefined;
  /** The error of the broker. */
  readonly cause?: unknown;
}

/**
 * A broker refused a message, and does not keep it: its user may not write there, or the message is above the broker's
 * limit of size, for example.
 */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_REFUSED" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_REFUSED" = CODE;
  /** The broker's code: the reply code of AMQP, `403` for example, `err_code` of JetStream, or the error code of Kafka. */
  readonly replyCode: number;

  /** @param replyCode - the broker's code */
  constructor(replyCode: number, options: RefusedErrorOptions = {}) {
    const { reason, cause } = read("options", options, "RefusedError", REFUSED_ERROR_OPTIONS);
    const words = reason === undefined ? "" : `: ${reason}`;
    super(`the broker refused the message with code ${replyCode}${words}`, { cause });
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
