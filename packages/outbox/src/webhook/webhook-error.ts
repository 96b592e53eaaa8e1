import { anything, findByCode, type Kinds, read } from "@holdfast/kit";

const CODE = "ERR_OUTBOX_WEBHOOK";

export const WEBHOOK_ERROR_OPTIONS: Kinds<WebhookErrorOptions> = {
  status: anything,
  cause: anything,
};

/** The facts of a {@link WebhookError}. */
export interface WebhookErrorOptions {
  /** The status of the response; undefined if none came. */
  readonly status?: number | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
}

/** A webhook rejected a message, or its response is unknown. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_WEBHOOK" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_WEBHOOK" = CODE;
  /** The status of the response; undefined if none came, and then the message may have arrived. */
  readonly status: number | undefined;

  constructor(message: string, options: WebhookErrorOptions = {}) {
    const { status, cause } = read("options", options, "WebhookError", WEBHOOK_ERROR_OPTIONS);
    super(message, { cause });
    this.status = status;
  }
}

/**
 * Whether an error is a {@link WebhookError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isWebhookError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
