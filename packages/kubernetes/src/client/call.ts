import { abortable, type Clock, findError } from "@holdfast/clock";
import { MAX_RETRY_AFTER, recaptureStack } from "@holdfast/kit";
import { type BackoffOptions, retry } from "@holdfast/wait";
import { isConflict } from "@holdfast/wait/go";
import { Deadline } from "@holdfast/wait/limit";
import { ConnectionError } from "../transport/connection-error.ts";
import { ApiError } from "./api-error.ts";
import { type ApiRequest, type ApiTarget, requestJson } from "./api-request.ts";
import type { Limits } from "./call-options.ts";

/** Delays before a request is sent again, in milliseconds, if they are longer than the server's. */
const BUSY_BACKOFF = { duration: 100, factor: 2, jitter: 0.5, cap: 30_000 } as const;

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
export function limited<Value>(
  { name, clock, signal, timeout, cause }: Call,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const message = `${name}: timed out after ${timeout} ms`;
  // As `withTimeout`, with three frames less in the stack of an error.
  const limit = new Deadline(timeout, { signal, clock, label: name, message, cause });
  const fail = (error: unknown): never => {
    // Its own stack shows a socket, or the steps of the call, and no caller.
    if (error instanceof ApiError || error instanceof ConnectionError) recaptureStack(error, fail);
    throw limit.withCaller(error);
  };
  return abortable(work, limit.signal)
    .catch(fail)
    .finally(() => limit[Symbol.dispose]());
}

/** Sends one request of a call. */
export type Send<Response = object> = (request: ApiRequest) => Promise<Response>;

/** Sends one request once, and reads its response. */
type SendOnce<Response> = (
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
) => Promise<Response>;

/** Limits of a call, and its differences from a plain read. */
interface CallLimits<Response> extends Limits {
  /** By default for a response that is an object of JSON. */
  readonly sendOnce?: SendOnce<Response>;

  /** Delays between the attempts after a `Conflict`. By default it is not attempted again. */
  readonly conflictBackoff?: BackoffOptions;
}

/**
 * Runs a call of some requests, which end together.
 *
 * @param name - method and path, for the error
 * @param limits - see {@link CallLimits}
 * @param work - receives the function that sends a request. After a 429 or a 503 that names a time it is called again
 * after that time, at most `retries` times in a row and only within the timeout: after a read always, after a write if the
 * response is the server's own `Status`. A gateway may have passed the write on before it failed
 * @throws as {@link limited}
 */
export function call<Value, Response = object>(
  target: ApiTarget,
  name: string,
  {
    sendOnce = requestJson as SendOnce<Response>,
    conflictBackoff,
    ...limits
  }: CallLimits<Response>,
  work: (send: Send<Response>) => Promise<Value>,
): Promise<Value> {
  const { clock, random } = target;
  const backoff = { ...(conflictBackoff ?? BUSY_BACKOFF), random };
  let refused: unknown;
  let conflict: unknown;
  let resends = 0;
  const isRefused = (error: unknown): boolean => refused !== undefined && error === refused;
  const canRetry = (error: unknown): boolean => {
    if (isRefused(error)) return ++resends <= limits.retries;
    if (conflictBackoff === undefined || !isConflict(error)) return false;
    conflict = error;
    resends = 0;
    return true;
  };
  const attempt = (signal: AbortSignal) => () =>
    // One retry for all requests of the call, and a `then` in place of `await`: fewer frames between an error and the
    // caller.
    work((request) =>
      sendOnce(target, request, signal).then(
        (response) => {
          refused = undefined;
          return response;
        },
        (error: unknown) => {
          if (waitOf(error) !== undefined) refused = error;
          throw error;
        },
      ),
    );
  const cause = (): unknown => refused ?? conflict;
  return limited({ ...limits, name, clock, cause }, (signal) =>
    retry(attempt(signal), {
      signal,
      clock,
      backoff,
      retries: Number.POSITIVE_INFINITY,
      shouldRetry: ({ error }) => canRetry(error),
      delay: ({ error, elapsed }, planned) => {
        // The server's own delay, but not less than the planned one: 0 must not switch the backoff off.
        const wait = waitOf(error);
        if (wait === undefined) return planned;
        const delay = Math.max(planned, Math.min(wait, MAX_RETRY_AFTER));
        if (elapsed + delay >= limits.timeout) throw error;
        return delay;
      },
    }),
  );
}

/** Reasons by which the server says that it has not carried out a request. */
const NOT_DONE: ReadonlySet<string> = new Set(["TooManyRequests", "ServiceUnavailable"]);

/** Milliseconds after which the server wants the request again. Undefined if it must not be sent again. */
function waitOf(error: unknown): number | undefined {
  const found = findError(error, ApiError);
  if (found === undefined) return undefined;
  const { method, status, reason, retryAfter } = found;
  const isBusy = status === 429 || status === 503;
  return isBusy && (method === "GET" || NOT_DONE.has(reason)) ? retryAfter : undefined;
}
