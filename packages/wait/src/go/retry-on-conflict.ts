import type { BackoffOptions } from "../delay/backoff-options.ts";
import { type OnErrorOptions, onError } from "./on-error.ts";

/** The fields of a Kubernetes `Status`, the response to a failed request, that matter here. */
interface Status {
  readonly code?: unknown;
  readonly reason?: unknown;
}

const CONFLICT = 409;

/**
 * Whether an error is the conflict that a Kubernetes API server reports when the object has changed
 * since it was read.
 *
 * | Error | Where the code is | Where the reason is |
 * | --- | --- | --- |
 * | `ApiError` of @holdfast/kubernetes | `statusCode` | `reason` |
 * | `ApiException` of @kubernetes/client-node 1.x | `code` | `body`, JSON as text |
 * | `HttpError` of @kubernetes/client-node 0.x | `statusCode` | `body`, an object |
 * | a `Status` thrown itself | `code` | `reason` |
 *
 * The reason `Conflict` is a conflict; `AlreadyExists` is not: it also has the code 409, but another
 * attempt does not help. With any other reason, or none, the code decides.
 *
 * @param error - anything that was caught
 * @returns true if it helps to read the object and change it again
 *
 * Source: `IsConflict` of k8s.io/apimachinery/pkg/api/errors. Go also searches the causes of an error;
 * JavaScript clients throw the error itself.
 *
 * @example
 * ```ts
 * import { isConflict } from "@holdfast/wait/go";
 *
 * const conflict = Object.assign(new Error("HTTP-Code: 409"), {
 *   code: 409,
 *   body: '{"kind":"Status","reason":"Conflict","code":409}',
 * });
 * console.log(isConflict(conflict)); // => true
 * console.log(isConflict({ ...conflict, body: '{"reason":"AlreadyExists"}' })); // => false
 * ```
 */
export function isConflict(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, statusCode, body, reason } = error as Record<string, unknown>;
  const status = statusOf(body);
  const why = status.reason ?? reason;
  if (why === "Conflict") return true;
  return why !== "AlreadyExists" && [code, statusCode, status.code].includes(CONFLICT);
}

function statusOf(body: unknown): Status {
  if (typeof body === "object" && body !== null) return body;
  if (typeof body !== "string") return {};
  try {
    return statusOf(JSON.parse(body));
  } catch {
    return {}; // a proxy may respond with an HTML page
  }
}

/**
 * Calls `fn` at most `steps` times, until its update succeeds without a conflict: {@link onError} with
 * {@link isConflict}.
 *
 * `fn` must read the object again in each call; the same object would conflict again.
 *
 * @param backoff - the delays; `steps` is also the maximum number of calls. Use {@link DefaultRetry},
 * or {@link DefaultBackoff} if another client changes the object constantly
 * @param fn - reads, changes and updates the object; receives the signal and should settle soon after
 * it aborts. It must not wrap the errors of the client
 * @param options - see {@link OnErrorOptions}
 * @returns a promise of the value of `fn`; rejects as {@link onError} does, after the last conflict
 * with that error unchanged
 *
 * Source: `RetryOnConflict` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { DefaultRetry, retryOnConflict } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const server = { replicas: 1, version: 7 };
 * const update = (object: typeof server) => {
 *   if (object.version !== server.version) throw { code: 409 };
 *   Object.assign(server, object, { version: server.version + 1 });
 * };
 *
 * let conflicts = 2;
 * const scale = async () => {
 *   const object = { ...server };
 *   if (conflicts-- > 0) server.version++; // another client was faster
 *   update({ ...object, replicas: 3 });
 * };
 * await clock.run(() => retryOnConflict(DefaultRetry, scale, { clock }));
 * console.log(server); // => { replicas: 3, version: 10 }
 * ```
 */
export async function retryOnConflict<Value>(
  backoff: BackoffOptions,
  fn: (signal: AbortSignal) => Value | PromiseLike<Value>,
  options: OnErrorOptions = {},
): Promise<Value> {
  return await onError(backoff, isConflict, fn, options);
}
