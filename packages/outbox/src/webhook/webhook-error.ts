const CODE = "ERR_OUTBOX_WEBHOOK";

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
  readonly code: typeof CODE = CODE;
  /** The status of the response; undefined if none came, and then the message may have arrived. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: WebhookErrorOptions = {}) {
    super(message, { cause });
    this.status = status;
  }
}

/** Whether a value is a {@link WebhookError}, of this copy of the package or another. */
export function isWebhookError(value: unknown): value is WebhookError {
  return value instanceof Error && (value as Partial<WebhookError>).code === CODE;
}
