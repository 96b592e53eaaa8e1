import { aborted, type Clock } from "@holdfast/clock";
import { messageOf } from "@holdfast/kit";
import type { Webhook } from "@holdfast/kubernetes";
import { isTimeoutError, RetryAfterError, retry, withTimeout } from "@holdfast/wait";
import { isObject, type JsonObject } from "../../object/json.ts";
import type { HookFault } from "../faults.ts";
import type { HookContext } from "./hook-cluster.ts";

/** A webhook has no answer, or one that is none. Its `failurePolicy` decides. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

/** How a server asks. */
export interface AskOptions {
  readonly clock: Clock;

  /** Ends the wait. */
  readonly signal: AbortSignal;
  readonly context: HookContext | undefined;

  /** The fault of the next try. */
  readonly nextFault: () => HookFault | undefined;
}

/** Seconds that a webhook has without `timeoutSeconds`. */
const DEFAULT_TIMEOUT = 10;

/**
 * Asks a webhook. An answer 429, or of the server's own failure, with `Retry-After` is asked again until the timeout.
 *
 * @returns the `response` of the review. Rejects with a WebhookError
 */
export async function ask(
  hook: Webhook,
  request: JsonObject,
  { clock, signal, context, nextFault }: AskOptions,
): Promise<JsonObject> {
  const { name, timeoutSeconds = DEFAULT_TIMEOUT } = hook.configuration;
  const tryOnce = async (ends: AbortSignal): Promise<unknown> => {
    const fault = nextFault();
    await meet(fault, clock, ends);
    if (fault?.type === "refuses") return { uid: request["uid"], allowed: false, status: fault };
    const review = () => hook.review(request as never, { signal: ends, context });
    return await (context === undefined ? review() : context.cluster.during(ends, review));
  };
  const label = `webhook ${name}`;
  const shouldRetry = ({ error }: { readonly error: unknown }): boolean =>
    error instanceof RetryAfterError;
  const retries = Number.POSITIVE_INFINITY;
  const tries = (ends: AbortSignal): Promise<unknown> =>
    retry(() => tryOnce(ends), { retries, shouldRetry, clock, signal: ends });
  try {
    const timeout = timeoutSeconds * 1_000;
    return requireResponse(await withTimeout(tries, timeout, { clock, signal, label }), request);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebhookError) throw error;
    const url = `https://webhooks.default.svc:443/${name}?timeout=${timeoutSeconds}s`;
    const why = isTimeoutError(error) ? "context deadline exceeded" : messageOf(error);
    const post = error instanceof HttpError ? why : `Post ${JSON.stringify(url)}: ${why}`;
    throw new WebhookError(`failed to call webhook: ${post}`);
  }
}

/** An answer with another status. */
class HttpError extends Error {}

/** Lets a fault happen. Rejects with the error of a call that fails, or that comes again. */
async function meet(
  fault: HookFault | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  switch (fault?.type) {
    case "down":
      throw new Error("dial tcp 127.0.0.1:443: connect: connection refused");
    case "slow":
      if (fault.delay === undefined) await aborted(signal);
      else await clock.sleep(fault.delay, { signal, label: "slow webhook" });
      signal.throwIfAborted();
      break;
    case "status": {
      const { status, retryAfter } = fault;
      if (retryAfter !== undefined && (status === 429 || status >= 500))
        throw new RetryAfterError(retryAfter * 1_000);
      throw new HttpError(
        TEXTS[status] ?? `an error on the server ("") has prevented the request from succeeding`,
      );
    }
    default:
  }
}

/** Texts of the server's client for the status of an answer. */
const TEXTS: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  403: "forbidden",
  404: "the server could not find the requested resource",
  429: "the server has received too many requests and has asked us to try again later",
};

/** @throws WebhookError for an answer that does not fit its review */
function requireResponse(response: unknown, { uid }: JsonObject): JsonObject {
  const invalid = (why: string): WebhookError =>
    new WebhookError(`received invalid webhook response: ${why}`);
  if (!isObject(response)) throw invalid("webhook response was absent");
  if (response["uid"] !== uid)
    throw invalid(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response["uid"])}`,
    );
  return response;
}

/**
 * The operations of the patch in an answer.
 *
 * @returns undefined without a patch, or with one of another type
 * @throws WebhookError for half of a patch, and for text that is none
 */
export function patchIn({ patch, patchType }: JsonObject): unknown {
  const invalid = (why: string): WebhookError =>
    new WebhookError(`received invalid webhook response: ${why}`);
  if (!patch && !patchType) return undefined;
  if (!patchType) throw invalid("webhook returned response.patch but not response.patchType");
  if (!patch) throw invalid("webhook returned response.patchType but not response.patch");
  if (patchType !== "JSONPatch") return undefined;
  try {
    return JSON.parse(Buffer.from(String(patch), "base64").toString("utf8"));
  } catch {
    throw invalid("the patch is no JSON");
  }
}
