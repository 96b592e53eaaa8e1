import { readObject, type ServerObject } from "../object/server-object.ts";
import type { KubeResponse } from "../transport/kube-transport.ts";
import { lines } from "../transport/lines.ts";
import { ApiError } from "./api-error.ts";
import { type ApiRequest, hiding, statusOf } from "./api-request.ts";
import { parseJson } from "./exact-json.ts";

/** An event of a watch. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ServerObject }
  | { readonly type: "BOOKMARK"; readonly version: string };

/**
 * Reads the events of a watch until the server closes it.
 *
 * @throws `signal.reason`, the errors of the body, and those of {@link readEvent}
 */
export async function* readEvents(
  response: KubeResponse,
  request: ApiRequest,
  kind: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const hide = hiding(response);
  for await (const received of lines(response.body))
    for (const line of received) {
      signal.throwIfAborted();
      yield readEvent(line, request, kind, hide);
    }
  signal.throwIfAborted();
}

/**
 * Reads an event from a line of a watch.
 *
 * @param line - the line
 * @param request - the request of the watch, for errors
 * @param kind - kind of the objects, for errors
 * @param hide - takes the credentials of the request out of a text
 * @throws ApiError for an event ERROR
 * @throws Error for a line that is not an event. Its message has nothing of the line, which may be a Secret
 */
export function readEvent(
  line: Buffer,
  request: ApiRequest,
  kind: string,
  hide: (text: string) => string = (text) => text,
): WatchEvent {
  const { type, object } = parse(line, request);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: readObject(object, kind) };
    case "BOOKMARK":
      return { type, version: versionOf(object, request) };
    case "ERROR":
      throw failureOf(object, request, hide);
    default:
      throw new Error(`${name(request)} sent an event of an unknown type`);
  }
}

function parse(line: Buffer, request: ApiRequest): { type?: unknown; object?: unknown } {
  let value: unknown;
  try {
    value = parseJson(line.toString("utf8"));
  } catch {
    // Without the error as its cause: that quotes the line.
    throw new Error(`${name(request)} sent a line of ${line.length} bytes that is not JSON`);
  }
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`${name(request)} sent a line that is not a JSON object`);
}

function versionOf(bookmark: unknown, request: ApiRequest): string {
  const { metadata } = (bookmark ?? {}) as { metadata?: { resourceVersion?: unknown } | null };
  const version = metadata?.resourceVersion;
  if (typeof version === "string" && version !== "") return version;
  throw new Error(`${name(request)} sent a bookmark without a version`);
}

function failureOf(
  status: unknown,
  { method, path }: ApiRequest,
  hide: (text: string) => string,
): ApiError {
  const { code } = (status ?? {}) as { code?: unknown };
  const { reason, message, details } = statusOf(JSON.stringify(status ?? {}), hide);
  const seconds: unknown = details.retryAfterSeconds;
  return new ApiError({
    method,
    path,
    reason,
    message,
    details,
    status: typeof code === "number" ? code : 0,
    retryAfter: typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined,
  });
}

function name({ method, path }: ApiRequest): string {
  return `the watch ${method} ${path}`;
}
