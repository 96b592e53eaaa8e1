import { findError } from "@holdfast/clock";
import { anything, type Kinds, messageOf, read, required, string } from "@holdfast/kit";
import { RetryAfterError } from "@holdfast/wait";
import { printable } from "../printable.ts";

const CODE = "ERR_KUBERNETES_API";

export const API_ERROR_OPTIONS: Kinds<ApiErrorOptions> = {
  status: required(anything),
  reason: required(anything),
  message: required(string),
  details: required(anything),
  retryAfter: anything,
  date: anything,
  method: required(anything),
  path: required(anything),
};

/** Longest text of a server in a message. */
const MAX_TEXT = 1_000;

/** The error that an API server sends: the parts of a `Status` that are used. */
export interface ApiStatus {
  /** Reason in one word, for example `NotFound` or `Conflict`. */
  readonly reason: string;

  /** The server's message. */
  readonly message: string;

  /** The server's details: kind and name of the object, causes by field. */
  readonly details: ApiStatusDetails;
}

/** Details of an {@link ApiError}. */
export interface ApiStatusDetails {
  /** Name of the object. */
  readonly name?: string;

  /** Group of the object. */
  readonly group?: string;

  /** Plural or kind of the object. */
  readonly kind?: string;

  /** UID of the object. */
  readonly uid?: string;

  /** Causes, mostly one per field. */
  readonly causes?: readonly ApiStatusCause[];

  /** Seconds after which to send the request again. */
  readonly retryAfterSeconds?: number;
}

/** One cause of an {@link ApiError}. */
export interface ApiStatusCause {
  /** Kind of the cause, for example `FieldValueInvalid`. */
  readonly reason?: string;

  /** The server's text. */
  readonly message?: string;

  /** The field, for example `spec.replicas`. */
  readonly field?: string;
}

/** Options for {@link ApiError}. */
export interface ApiErrorOptions extends ApiStatus {
  /** The HTTP status. */
  readonly status: number;

  /** Method of the request. */
  readonly method: string;

  /** Path of the request, without its query. */
  readonly path: string;

  /** Milliseconds after which the server wants the request again. */
  readonly retryAfter?: number | undefined;

  /** Time of the response on the server's clock, in milliseconds since the epoch. */
  readonly date?: number | undefined;
}

/**
 * An API server refused a request. The message has method, path, status, reason and at most 1,000 characters
 * of the server's own text, with its control characters escaped.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_KUBERNETES_API" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_KUBERNETES_API" = CODE;

  /** The HTTP status. */
  readonly status: number;

  /** Reason in one word, for example `NotFound`, `AlreadyExists` or `Conflict`. Empty if the server named none. */
  readonly reason: string;

  /** The server's details. Empty if it sent none. */
  readonly details: ApiStatusDetails;

  /** Milliseconds after which the server wants the request again. Undefined if it did not say. */
  readonly retryAfter: number | undefined;

  /** Time of the response on the server's clock, in milliseconds since the epoch. Undefined if it did not say. */
  readonly date: number | undefined;

  /** Method of the request. */
  readonly method: string;

  /** Path of the request, without its query. */
  readonly path: string;

  /** @param options - see {@link ApiErrorOptions} */
  constructor(options: ApiErrorOptions) {
    const given = read("options", options, "ApiError", API_ERROR_OPTIONS);
    const { status, reason, message, details, retryAfter, date, method, path } = given;
    const text = message.length > MAX_TEXT ? `${message.slice(0, MAX_TEXT)}…` : message;
    const what = [status, reason].filter(Boolean).join(" ");
    super(printable(`${method} ${path}: ${what}: ${text}`));
    this.status = status;
    this.reason = reason;
    this.details = details;
    this.retryAfter = retryAfter;
    this.date = date;
    this.method = method;
    this.path = path;
  }
}

/**
 * Whether an error is an {@link ApiError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt. `findError(error, ApiError)` returns the error
 * with its status code and its details.
 *
 * @param error - anything that was caught
 * @param reason - the reason it must have, for example `NotFound`. Default: any
 *
 * @example
 * ```ts
 * import { ApiError, isApiError } from "@holdfast/kubernetes";
 *
 * const error = new ApiError({
 *   status: 404, reason: "NotFound", message: 'configmaps "ann" not found', details: {},
 *   method: "GET", path: "/api/v1/namespaces/default/configmaps/ann",
 * });
 * console.log(isApiError(error, "NotFound"), isApiError(error, "Conflict")); // => true false
 * console.log(isApiError(new Error("no settings", { cause: error }), "NotFound")); // => true
 * ```
 */
export function isApiError(error: unknown, reason?: string): boolean {
  const found = findError(error, ApiError);
  return found !== undefined && (reason === undefined || found.reason === reason);
}

/**
 * Whether a server says that there is no such object.
 *
 * A 404 without this reason is no such response: a server that has just started does not serve custom resources
 * yet, and responds `404 page not found` to each of their paths. It is not a statement about the object.
 */
export function isNotFound(error: unknown): boolean {
  return isApiError(error, "NotFound");
}

/** An error for a layer that repeats: it waits at least as long as the server asks. Other errors stay as they are. */
export function withRetryAfter(error: unknown): unknown {
  const after = findError(error, ApiError)?.retryAfter;
  if (after === undefined) return error;
  return new RetryAfterError(after, { message: messageOf(error), cause: error });
}

/** Whether a server says that it does not serve a path, or not yet: a 404 that is not {@link isNotFound}. */
export function isNotServed(error: unknown): boolean {
  return findError(error, ApiError)?.status === 404 && !isNotFound(error);
}
