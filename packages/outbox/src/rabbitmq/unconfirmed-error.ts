const CODE = "ERR_OUTBOX_UNCONFIRMED";

/** The facts of an {@link UnconfirmedError}. */
export interface UnconfirmedErrorOptions {
  /** The underlying error. */
  readonly cause?: unknown;
}

/** A broker did not confirm a message: it may have it or not. */
export class UnconfirmedError extends Error {
  override readonly name = "UnconfirmedError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;

  /** @param why - the event that prevented the confirmation */
  constructor(why: string, options?: UnconfirmedErrorOptions) {
    super(`message not confirmed: ${why}`, options);
  }
}

/** Whether a value is an {@link UnconfirmedError}, of this copy of the package or another. */
export function isUnconfirmedError(value: unknown): value is UnconfirmedError {
  return value instanceof Error && (value as Partial<UnconfirmedError>).code === CODE;
}
