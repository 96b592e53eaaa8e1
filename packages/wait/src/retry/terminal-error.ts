import { anything, findByCode, type Kinds, read } from "@holdfast/kit";

const CODE = "ERR_WAIT_TERMINAL";

export const ERROR_OPTIONS: Kinds<ErrorOptions> = { cause: anything };

/**
 * An error that no further attempt can fix. Throw it to stop retrying.
 *
 * | Layer | Effect |
 * | --- | --- |
 * | `retry`, `poll`, `connectWithBackoff`, `keepConnected`, the rxjs operators | reject at once, with the `TerminalError` itself |
 * | a `Controller` | the key is dropped until the next event; its failures are forgotten |
 *
 * The error stays as thrown, with its `cause` inside: a `retry` within a reconciler stays terminal
 * for the controller. An error whose `cause` is a `TerminalError` is terminal too, so that adding
 * context does not make it retryable again. To retry such an error, throw one without that `cause`.
 *
 * Source: `TerminalError` of controller-runtime. Unlike `Permanent` of github.com/cenkalti/backoff it
 * is not unwrapped.
 *
 * @example
 * ```ts
 * import { retry, TerminalError } from "@holdfast/wait";
 *
 * let calls = 0;
 * const page = retry(() => {
 *   calls++;
 *   throw new TerminalError("no such page", { cause: new Error("404") });
 * });
 * console.log(String(await page.catch((error: unknown) => error)), calls);
 * // => TerminalError: no such page 1
 * ```
 */
export class TerminalError extends Error {
  /** Always `"TerminalError"`. */
  override readonly name = "TerminalError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_TERMINAL" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_TERMINAL" = CODE;

  /**
   * @param message - the message
   * @param options - the `cause`: the error behind it
   */
  constructor(message: string, options: ErrorOptions = {}) {
    read("options", options, "TerminalError", ERROR_OPTIONS);
    super(message, options);
  }
}

/**
 * Whether an error is a {@link TerminalError}, of this copy of the package or another, or has one
 * among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt. Nor do the
 * `errors` of an `AggregateError`: another of them may be worth a retry.
 *
 * @param error - anything that was caught
 * @returns true if no further attempt can fix it
 *
 * Source: `errors.Is(err, reconcile.TerminalError(nil))` in Go.
 *
 * @example
 * ```ts
 * import { isTerminalError, TerminalError } from "@holdfast/wait";
 *
 * const error = new TerminalError("no such image");
 * console.log(isTerminalError(error)); // => true
 * console.log(isTerminalError(new Error("pull failed", { cause: error }))); // => true
 * console.log(isTerminalError(new Error("try again"))); // => false
 * ```
 */
export function isTerminalError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
