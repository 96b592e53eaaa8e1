import { type Clock, realClock } from "@holdfast/clock";
import {
  findByCode,
  func,
  isThenable,
  type Kinds,
  methods,
  parsed,
  read,
  requireMethods,
  requireObject,
  requireSignal,
  Secrets,
} from "@holdfast/kit";
import { timeLeft } from "../limit/deadline.ts";
import { withTimeout } from "../limit/with-timeout.ts";
import { parseRetryAfter } from "./parse-retry-after.ts";
import { RetryAfterError } from "./retry-after-error.ts";
import { TerminalError } from "./terminal-error.ts";

export const EXPECT_OK_OPTIONS: Kinds<ExpectOkOptions> = {
  clock: methods("now", "afterFunc"),
  request: parsed("request"),
  describe: func,
};

/** What was sent, for {@link ExpectOkOptions}: a `Request`, or the second argument of `fetch`. */
export interface FetchRequest {
  /** Headers as `fetch` takes them. */
  readonly headers?:
    | Iterable<readonly string[]>
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | undefined;
  /** The signal that ends the request. With that of an attempt, the body is read for at most half of the time it has left. */
  readonly signal?: AbortSignal | null | undefined;
}

/** The part of a `fetch` response that {@link expectOk} reads. */
export interface FetchResponse {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** The HTTP status code. */
  readonly status: number;
  /** The URL that answered. */
  readonly url: string;
  /** The response headers. */
  readonly headers: {
    /** The value of a header, or null. */
    get(name: string): string | null;
  };
  /** The body: a `ReadableStream` or null. */
  readonly body?: unknown;
}

/** Options for {@link expectOk}. */
export interface ExpectOkOptions {
  /**
   * The clock that a date in `Retry-After` is compared with, and that limits the time to read a body.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * What was sent. With it the message holds the start of the body. A server may repeat a request in its error, so the
   * credentials of this one are taken out: the values of its headers, but for those such as `Accept` that hold none, and the
   * path and the query of the URL, also in base64 and with escapes.
   *
   * @defaultValue none: the message holds nothing of the body
   */
  readonly request?: FetchRequest | undefined;

  /**
   * Text of the URL in the message. A path may be a secret.
   *
   * @defaultValue the origin, such as `https://api.example`
   */
  readonly describe?: ((url: URL) => string) | undefined;
}

/** How much of a body goes into an error message, in bytes. */
const MAX_BODY = 1_024;

/**
 * How long to read it, in milliseconds. A body that stalls must not hide the status, and the end of an attempt would. What
 * a server says usually comes together with its status.
 */
const MAX_READ = 100;

/** The same if the end of the attempt is not known, which may be near. */
const SHORT_READ = 20;

/** Timeout, too early, too many requests: client errors that a later attempt may fix. */
const RETRYABLE = new Set([408, 425, 429]);

/**
 * Returns a response of `fetch` if its status is 200 to 299, and throws an error that `retry`, `poll`
 * and a controller understand otherwise.
 *
 * | Status | Error |
 * | --- | --- |
 * | 200 to 299 | none: the response is returned, its body unread |
 * | 408, 425, 429, 500 to 599, with a valid `Retry-After` | {@link RetryAfterError} |
 * | the same, without one | {@link HttpError}: worth another attempt after the normal delay |
 * | any other | {@link TerminalError}: another attempt would get the same response |
 *
 * Each error has the `status`; `findError(error, HttpError)` finds it, also as the cause of the other two. The
 * message holds the status and the origin of the URL. With `request` it also holds at most 1 kB of the body, without what was
 * sent as a credential. The status alone decides: the body is read for at most 20 ms; if `request` has the `signal` of an
 * attempt or a deadline, for at most half of the time that is left, up to 100 ms. The rest is cancelled, which frees the
 * connection.
 *
 * A bad argument is a mistake that no other attempt can fix: its TypeError counts as terminal.
 *
 * @param response - the response, not its promise; resolves to the same object
 * @param options - see {@link ExpectOkOptions}
 * @returns a promise of the response; rejects with an error from the table, or with a TypeError for a
 * bad argument
 *
 * Source: the status codes are those that RFC 9110, RFC 8470 (425) and RFC 6585 (429) call temporary.
 *
 * @example
 * ```ts
 * import { expectOk, isTerminalError, retry } from "@holdfast/wait";
 *
 * const responses = [new Response("busy", { status: 503 }), new Response("hello")];
 * const page = await retry(async () => expectOk(responses.shift() as Response), {
 *   backoff: { duration: 1 },
 * });
 * console.log(await page.text()); // => hello
 *
 * const missing = expectOk(new Response("no such page", { status: 404 }));
 * console.log(isTerminalError(await missing.catch((error: unknown) => error))); // => true
 * ```
 */
export async function expectOk<Received extends FetchResponse>(
  response: Received,
  options: ExpectOkOptions = {},
): Promise<Received> {
  const { clock = realClock } = requireArguments(response, options);
  const { ok, status, headers } = response;
  if (ok) return response;

  const message = await messageOf(response, options);
  const cause = new HttpError(status, message);
  if (!RETRYABLE.has(status) && (status < 500 || status > 599))
    throw Object.assign(new TerminalError(message, { cause }), { status });
  const after = parseRetryAfter(headers.get("retry-after"), clock, headers.get("date"));
  if (after === undefined) throw cause;
  throw Object.assign(new RetryAfterError(after, { message, cause }), { status });
}

async function messageOf(response: FetchResponse, options: ExpectOkOptions): Promise<string> {
  const { clock = realClock, request, describe = originOf } = options;
  const url = urlOf(response);
  const text = await readStart(response.body, request && { request, url, clock });
  const from = url === undefined ? "" : ` from ${describe(url)}`;
  return `HTTP ${response.status}${from}${text === "" ? "" : `: ${text}`}`;
}

/** Reads the options. A forgotten `await`, for example, is not worth another attempt. */
function requireArguments(response: unknown, options: ExpectOkOptions): ExpectOkOptions {
  try {
    if (isThenable(response))
      throw new TypeError("response must be a Response, got a Promise: await it");
    requireMethods("response.headers", (response as Partial<FetchResponse> | null)?.headers, [
      "get",
    ]);
    const given = read("options", options, "expectOk", EXPECT_OK_OPTIONS);
    if (given.request !== undefined) requireRequest(given.request);
    return given;
  } catch (error) {
    const { message } = error as Error;
    throw new TypeError(message, { cause: new TerminalError(message) });
  }
}

function requireRequest(request: FetchRequest): void {
  requireObject("options.request", request);
  const { headers, signal } = request;
  if (headers !== undefined) requireObject("options.request.headers", headers);
  if (signal !== undefined && signal !== null) requireSignal("options.request.signal", signal);
}

const originOf = ({ origin }: URL): string => origin;

/** A response made by hand has no URL. */
function urlOf({ url }: FetchResponse): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** The headers of a request by name. */
function headersOf({ headers = {} }: FetchRequest): (readonly [name: string, value: string])[] {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(([name, value]) => [String(name), String(value)]);
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** What was sent, and to where. */
interface Exchange {
  readonly request: FetchRequest;
  readonly url: URL | undefined;
  readonly clock: Clock;
}

/**
 * The first bytes of a body as one line, without the credentials of its request; nothing if that is not known. A body that
 * cannot be read must not hide the status.
 */
async function readStart(body: unknown, exchange: Exchange | undefined): Promise<string> {
  const bytes: number[] = [];
  try {
    const reader = (body as { getReader(): Reader } | null | undefined)?.getReader();
    if (reader === undefined) return "";
    try {
      if (exchange !== undefined) await readInTime(bytes, reader, exchange);
    } finally {
      reader.cancel().catch(() => {}); // the message is complete: nothing depends on this
    }
  } catch {
    // The status is what counts.
  }
  if (exchange === undefined) return "";
  // As a stream, so that a character that the limit cuts in two is left out.
  const text = new TextDecoder().decode(Uint8Array.from(bytes), { stream: true });
  const { request, url } = exchange;
  const secrets = new Secrets({ url, headers: headersOf(request) });
  // Also what reorders a line or ends it, for a reader of logs.
  return secrets
    .hide(text)
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ")
    .trim();
}

async function readInTime(
  bytes: number[],
  reader: Reader,
  { request, clock }: Exchange,
): Promise<void> {
  const signal = request.signal ?? undefined;
  const left = timeLeft(signal);
  const limit = left === Number.POSITIVE_INFINITY ? SHORT_READ : Math.min(left / 2, MAX_READ);
  await withTimeout(() => readInto(bytes, reader), limit, { clock, signal, label: "body" });
}

/**
 * Recursive, because each read waits for the one before and no delay lies in between. In at most one read for each byte:
 * no timer would end a stream of empty chunks, which come without a turn of the event loop.
 */
async function readInto(bytes: number[], reader: Reader, reads = MAX_BODY): Promise<void> {
  const { done, value } = await reader.read();
  bytes.push(...(value ?? []).slice(0, MAX_BODY - bytes.length));
  if (!done && bytes.length < MAX_BODY && reads > 1) await readInto(bytes, reader, reads - 1);
}

const CODE = "ERR_WAIT_HTTP";

/**
 * A response of HTTP whose status is not 200 to 299, as {@link expectOk} throws it. A `TerminalError` or a
 * `RetryAfterError` of `expectOk` has it as its cause.
 *
 * @example
 * ```ts
 * import { expectOk, findError, HttpError } from "@holdfast/wait";
 *
 * const error = await expectOk(new Response("no", { status: 409 })).catch((reason: unknown) => reason);
 * console.log(findError(error, HttpError)?.status); // => 409
 * ```
 */
export class HttpError extends Error {
  /** Always `"HttpError"`. */
  override readonly name = "HttpError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_HTTP" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_HTTP" = CODE;
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
  return findByCode(error, CODE) !== undefined;
}
