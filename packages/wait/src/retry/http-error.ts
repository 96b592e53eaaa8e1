import { findByCode } from "@holdfast/clock/internal";

const CODE = "ERR_WAIT_HTTP";

/**
 * A response of HTTP whose status is not 200 to 299, as {@link expectOk} throws it. A `TerminalError` or a
 * `RetryAfterError` of `expectOk` has it as its cause.
 *
 * @example
 * ```ts
 * import { expectOk, findHttpError } from "@holdfast/wait";
 *
 * const error = await expectOk(new Response("no", { status: 409 })).catch((reason: unknown) => reason);
 * console.log(findHttpError(error)?.status); // => 409
 * ```
 */
export class HttpError extends Error {
  /** Always `"HttpError"`. */
  override readonly name = "HttpError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_HTTP" = CODE;
  /** The status of the response. */
  readonly status: number;

  /**
   * @param status - the status of the response
   * @param message - the message
   */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Whether an error is an {@link HttpError}, of this copy of the package or another, or has one among its
 * causes.
 *
 * @param error - anything that was caught
 * @returns true if a server answered with a failure
 *
 * @example
 * ```ts
 * import { HttpError, isHttpError } from "@holdfast/wait";
 *
 * console.log(isHttpError(new HttpError(503, "HTTP 503"))); // => true
 * console.log(isHttpError(new TypeError("fetch failed"))); // => false
 * ```
 */
export function isHttpError(error: unknown): boolean {
  return findHttpError(error) !== undefined;
}

/**
 * The first {@link HttpError} among an error and its causes, of this copy of the package or another.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns the error, with its fields; undefined if there is none
 *
 * @example
 * ```ts
 * import { findHttpError, HttpError } from "@holdfast/wait";
 *
 * const caught: unknown = new Error("no luck", { cause: new HttpError(401, "HTTP 401") });
 * console.log(findHttpError(caught)?.status); // => 401
 * ```
 */
export function findHttpError(error: unknown): HttpError | undefined {
  return findByCode<HttpError>(error, CODE);
}
