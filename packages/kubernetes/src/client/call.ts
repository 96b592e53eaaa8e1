import type { Clock } from "@holdfast/clock";
import { abortable, recaptureStack } from "@holdfast/clock/internal";
import { retry } from "@holdfast/wait";
import { Deadline, MAX_RETRY_AFTER } from "@holdfast/wait/internal";
import { ConnectionError } from "../transport/connection-error.ts";
import { ApiError, findApiError } from "./api-error.ts";
import { type ApiRequest, type ApiTarget, requestJson } from "./api-request.ts";
import type { Limits } from "./call-options.ts";

/** How often a request is sent again. */
const MAX_RESENDS = 5;

/** A call: its name for errors, its clock and its limits. */
export interface Call extends Limits {
  readonly name: string;
  readonly clock: Clock;
  /** Reason for which the call is not finished yet. */
  readonly cause?: (() => unknown) | undefined;
}

/**
 * Runs `work` within the limits of a call.
 *
 * @throws a `TimeoutError` that has the name; `signal.reason`; the error of `work`
 */
export async function limited<Value>(
  { name, clock, signal, timeout, cause }: Call,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const message = `${name}: timed out after ${timeout} ms`;
  // As `withTimeout`, with two frames less in the stack of an error.
  using limit = new Deadline(timeout, { signal, clock, label: name, message, cause });
  try {
    return await abortable(work, limit.signal);
  } catch (error) {
    // Its own stack shows a socket, or the steps of the call, and no caller.
    if (error instanceof ApiError || error instanceof ConnectionError)
      recaptureStack(error, limited);
    throw limit.withCaller(error);
  }
}

/** Sends one request within the limits of a call. */
export type Send<Response = object> = (request: ApiRequest) => Promise<Response>;

/** Sends one request once, and reads its response. */
type SendOnce<Response> = (
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
) => Promise<Response>;

/**
 * Runs a call of some requests, which end together.
 *
 * @param name - method and path, for the error
 * @param limits - and `sendOnce`, by default for a response that is an object of JSON
 * @param work - receives the function that sends a request. After a 429 or a 503 that names a time it is sent again
 * after that time, at most five times and only within the timeout: a read always, a write if the response is the
 * server's own `Status`. A gateway may have passed the write on before it failed
 * @throws as {@link limited}
 */
export function call<Value, Response = object>(
  target: ApiTarget,
  name: string,
  limits: Limits & Pick<Call, "cause"> & { readonly sendOnce?: SendOnce<Response> },
  work: (send: Send<Response>, signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { clock } = target;
  const sendOnce = limits.sendOnce ?? (requestJson as SendOnce<Response>);
  const end = clock.monotonic() + limits.timeout;
  let last: unknown;
  const sendWith = (signal: AbortSignal) => (request: ApiRequest) => {
    last = undefined;
    return retry(() => sendOnce(target, request, signal), {
      signal,
      clock,
      retries: MAX_RESENDS,
      maxElapsed: Math.max(end - clock.monotonic(), 0),
      shouldRetry: ({ error }) => waitOf(request, error) !== undefined,
      delay: ({ error }, planned) => delayOf(waitOf(request, error), planned),
      onRetry: ({ error }) => {
        last = error;
      },
    });
  };
  const cause = (): unknown => last ?? limits.cause?.();
  const options = { ...limits, name, clock, cause };
  return limited(options, (signal) => work(sendWith(signal), signal));
}

/** The server's own delay, but not less than the planned one: 0 must not switch the backoff off. */
function delayOf(asked: number | undefined, planned: number): number {
  return Math.max(planned, Math.min(asked ?? 0, MAX_RETRY_AFTER));
}

/** Reasons by which the server says that it has not carried out a request. */
const NOT_DONE: ReadonlySet<string> = new Set(["TooManyRequests", "ServiceUnavailable"]);

/** Milliseconds after which the server wants the request again. Undefined if it must not be sent again. */
function waitOf({ method }: ApiRequest, error: unknown): number | undefined {
  const found = findApiError(error);
  if (found === undefined) return undefined;
  const { statusCode, reason, retryAfter } = found;
  const isBusy = statusCode === 429 || statusCode === 503;
  return isBusy && (method === "GET" || NOT_DONE.has(reason)) ? retryAfter : undefined;
}
