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
 * | `ApiError` of @holdfast/kubernetes | `status` | `reason` |
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
  const { code, status, statusCode, body, reason } = error as Record<string, unknown>;
  const sent = statusOf(body);
  const why = sent.reason ?? reason;
  if (why === "Conflict") return true;
  return why !== "AlreadyExists" && [code, status, statusCode, sent.code].includes(CONFLICT);
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
