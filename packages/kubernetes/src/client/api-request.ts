import type { Clock } from "@holdfast/clock";
import { hideIn } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { parseRetryAfter } from "@holdfast/wait/limit";
import type { RequestMetric } from "../kubernetes-metrics.ts";
import { isBuiltInVersion } from "../object/built-in.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "../transport/kube-transport.ts";
import { type ReadLimits, readBody, readStart } from "../transport/read-body.ts";
import { ApiError, type ApiStatus } from "./api-error.ts";
import { parseJson } from "./exact-json.ts";

/** Longest response of a failed request that is read, in bytes. */
const MAX_FAILURE = 65_536;

/** Longest response of a request, in bytes: a page of a list that is longer is asked for again with a smaller limit. */
const MAX_RESPONSE: number = 64 * 1024 * 1024;

/** A response that stalls or breaks. The part that came may end within a credential: it is not shown. */
const CUT: ApiStatus = { reason: "", message: "the response is incomplete", details: {} };

/** The response to a request that got another address. */
const REDIRECT: ApiStatus = {
  reason: "",
  message: "the response is a redirect, which is not followed: check the server address",
  details: {},
};

/** A request by its parts. */
export interface ApiRequest {
  /** HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

  /** Path without a query, of `object/resource-path.ts`. */
  readonly path: string;

  /** Query. Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;

  /** Body, sent as JSON. */
  readonly body?: unknown;

  /** Type of the body. Default: `application/json`. */
  readonly contentType?: string | undefined;

  /** Accepted type of the response. Default: `application/json`. */
  readonly accept?: string | undefined;

  /** Whether the response may be compressed: worth it for lists. Default: false. */
  readonly gzip?: boolean | undefined;
}

/** Where a request goes, and where facts about it go. `apiTarget()` makes one from the options of a user. */
export interface ApiTarget {
  /** The way to the server. */
  readonly transport: KubeTransport;

  /** Measures requests, and reads dates in responses. */
  readonly clock: Clock;

  /** Draws the jitter of delays. Default: `Math.random`. */
  readonly random?: Random | undefined;

  /** Receives each request that has ended. Does not throw. */
  readonly onRequested?: ((metric: RequestMetric) => void) | undefined;

  /**
   * Called before each request that is not a GET, and again when it has its connection. An error that it throws is the
   * error of the request.
   */
  readonly beforeWrite?: (() => void) | undefined;

  /** Receives each header `warning`. Does not throw. */
  readonly onWarning?: ((header: string) => void) | undefined;
}

/**
 * Sends one request, once. Every request to a server goes through here: the client's calls, lists and
 * watches.
 *
 * @param waiting - the signal of the wait for the response, if it ends before that of the request
 * @returns the response with a status of 2xx, its body unread
 * @throws ApiError for any other status
 */
export async function openRequest(
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
  waiting?: AbortSignal,
): Promise<KubeResponse> {
  // On a stack of its own: a transport that throws at once would show all steps of the call, and no caller. Promises that
  // async functions hand on are attached one microtask later, so two.
  await Promise.resolve();
  await Promise.resolve();
  signal.throwIfAborted();
  if (request.method !== "GET") target.beforeWrite?.();
  const beforeSend = request.method === "GET" ? undefined : target.beforeWrite;
  const sent = { ...formatRequest(request), ...(beforeSend && { beforeSend }) };
  const { transport, clock, onRequested, onWarning } = target;
  const start = clock.monotonic();
  let code = "<error>";
  let response: KubeResponse;
  try {
    response = await transport.send(sent, signal);
    code = String(response.status);
  } finally {
    onRequested?.({ method: request.method, code, duration: clock.monotonic() - start });
  }
  const { warning } = response.headers;
  if (warning !== undefined) onWarning?.(hiding(response)(warning));
  if (response.status >= 200 && response.status < 300) return response;
  throw await failureOf(request, response, { clock, signal, waiting });
}

function formatRequest(request: ApiRequest): KubeRequest {
  const { method, path, query = {}, body, contentType = "application/json" } = request;
  const headers: Record<string, string> = { accept: request.accept ?? "application/json" };
  if (body !== undefined) headers["content-type"] = contentType;
  if (request.gzip === true) headers["accept-encoding"] = "gzip";
  const text = body === undefined ? undefined : JSON.stringify(body);
  return { method, path: path + formatQuery(query), headers, body: text };
}

/**
 * Sends one request, once, and reads the JSON of its response.
 *
 * @throws ApiError for a status other than 2xx, and for a response that is not an object of JSON
 * @throws BodyTooLongError for a response above 64 MiB
 */
export function requestJson(
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<object> {
  return requestText(
    target,
    request,
    signal,
    ({ status, type = "no content-type", text, hide }) => {
      const { method, path } = request;
      const value = parseObject(text);
      // Errors name the kind of a response that is another one.
      const { kind = "" } = (value ?? {}) as { kind?: unknown };
      if (value !== undefined && hide(String(kind)) === String(kind)) return value;
      const message = `the response is not a JSON object (${hide(type).slice(0, 100)}): is ${target.transport.description} an API server?`;
      throw new ApiError({ status, reason: "", message, details: {}, method, path });
    },
  );
}

/**
 * Sends one request, once, and reads its response: JSON is parsed, other types are text.
 *
 * @throws ApiError for a status other than 2xx, and for a response that is said to be JSON and is none
 * @throws BodyTooLongError for a response above 64 MiB
 */
export function requestAny(
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<unknown> {
  return requestText(target, request, signal, ({ status, type = "", text }) => {
    if (!/^application\/json\b/i.test(type)) return text;
    try {
      return parseJson(text);
    } catch {
      const { method, path } = request;
      const message = "the response is not JSON, although its content-type says so";
      throw new ApiError({ status, reason: "", message, details: {}, method, path });
    }
  });
}

/** A response that was read. */
interface TextResponse {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
  readonly hide: (text: string) => string;
}

function requestText<Value>(
  target: ApiTarget,
  request: ApiRequest,
  signal: AbortSignal,
  parse: (response: TextResponse) => Value,
): Promise<Value> {
  return openRequest(target, request, signal).then(async (response) => {
    const { status, headers, body } = response;
    const name = `${request.method} ${request.path}`;
    const text = (await readBody(body, MAX_RESPONSE, name)).toString("utf8");
    return parse({ status, type: headers["content-type"], text, hide: hiding(response) });
  });
}

function formatQuery(query: NonNullable<ApiRequest["query"]>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

async function failureOf(
  { method, path }: ApiRequest,
  response: KubeResponse,
  limits: ReadLimits,
): Promise<ApiError> {
  const { status, headers, body } = response;
  const bytes = await readStart(body, MAX_FAILURE, limits);
  const text = bytes?.toString("utf8").trim();
  const found = status < 400 ? REDIRECT : foundIn(text, hiding(response));
  const { reason, message: said, details } = found;
  const advice = text === undefined ? "" : adviceOn(path, status, { reason, said });
  const message = `${said}${advice}`;
  const named = parseRetryAfter(headers["retry-after"], limits.clock, headers["date"]);
  const retryAfter = named ?? secondsOf(details.retryAfterSeconds);
  const date = dateOf(headers["date"]);
  const facts = { reason, message, details, retryAfter, date };
  return new ApiError({ status, ...facts, method, path });
}

function foundIn(text: string | undefined, hide: (text: string) => string): ApiStatus {
  return text === undefined ? CUT : statusOf(text, hide);
}

/**
 * Advice on a failure whose cause is the definition of a custom resource. A server that does not serve a resource responds
 * to each of its paths in plain text, which names nothing. One with an older definition refuses an apply of a newer field
 * with 500, as it does if another version, by which a manager of the object has written, lacks a field.
 */
function adviceOn(
  path: string,
  status: number,
  { reason, said }: { readonly reason: string; readonly said: string },
): string {
  const parts = /^\/apis\/([^/]+\.[^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)/.exec(path);
  if (parts === null) return "";
  const [, group, version, plural] = parts;
  if (isBuiltInVersion(`${group}/${version}`)) return "";
  const isUndeclared = said.includes(": field not declared in schema");
  // An apply that does not fit its own version is called so.
  if (isUndeclared && !said.startsWith("failed to create typed patch object"))
    return `: a manager of the object has written by a version of the CustomResourceDefinition ${plural}.${group} that lacks the field; add the field to all versions`;
  if (isUndeclared || said.includes('unknown field "'))
    return `: apply the current CustomResourceDefinition ${plural}.${group}, the server has another one`;
  if (status !== 404 || reason !== "") return "";
  return `: the server does not serve ${plural} of ${group}/${version}; check that the CustomResourceDefinition ${plural}.${group} is applied and serves ${version}`;
}

function dateOf(header: string | undefined): number | undefined {
  const date = Date.parse(header ?? "");
  return Number.isNaN(date) ? undefined : date;
}

const asItIs = (text: string): string => text;

/** What takes the credentials of a request out of texts of its response. */
export function hiding({ hide = asItIs }: KubeResponse): (text: string) => string {
  return hide;
}

/**
 * Reads a `Status` of the server, also one that came in a watch. Text that is none is the message.
 *
 * @param hide - takes the credentials of the request out of a text: a server may repeat what it was sent
 */
export function statusOf(text: string, hide: (text: string) => string): ApiStatus {
  const status = parseObject(text);
  if (status === undefined) return { reason: "", message: hide(text), details: {} };
  const { reason, message, details } = hideIn(status, hide) as {
    reason?: unknown;
    message?: unknown;
    details?: unknown;
  };
  return {
    reason: typeof reason === "string" ? reason.slice(0, 100) : "",
    message: typeof message === "string" ? message : "the server sent no message",
    details: typeof details === "object" && details !== null ? details : {},
  };
}

function secondsOf(seconds: unknown): number | undefined {
  const milliseconds = typeof seconds === "number" ? seconds * 1_000 : 0;
  return milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

function parseObject(text: string): object | undefined {
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
