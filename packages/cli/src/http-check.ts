import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { onAbort } from "@holdfast/clock";
import { TerminalError } from "@holdfast/wait";
import { addressesOf, firstOf, hostOf, portOf, reasonOf } from "./network.ts";
import { noProxy, type ProxyFinder, proxiesOf } from "./proxy.ts";
import { lookup } from "./system-call.ts";

/** Options for {@link httpCheck}. */
export interface HttpOptions {
  readonly method: string;
  readonly status: StatusRanges;
  readonly follow: boolean;
  /** For the origin of the URL: a redirect to another one goes without them, as without the credentials of the URL. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the body must contain or match. */
  readonly body: string | RegExp | undefined;
  readonly insecure: boolean;
  readonly cacert: Buffer | undefined;
  /** Whether to use HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly proxy: boolean;
  /** Whether an untrusted certificate is a reason like any other. */
  readonly not: boolean;
}

/** Ranges of HTTP statuses, both ends included. */
export type StatusRanges = readonly (readonly [from: number, to: number])[];

const LONGEST_BODY = 65_536;
const MOST_REDIRECTS = 10;
/** How often an untrusted certificate is seen before waiting ends. */
const CERTIFICATE_TRIES = 3;

const UNTRUSTED: readonly string[] = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
];

/** A response that is not the one waited for. */
class ResponseError extends Error {}

/**
 * A check of a URL: resolves when it answers as asked, rejects with the reason otherwise. An untrusted certificate is
 * final at the third time in a row.
 *
 * @throws InvalidArgumentError if a proxy of the environment is none for http
 */
export function httpCheck(url: URL, options: HttpOptions): (signal: AbortSignal) => Promise<void> {
  const proxies = options.proxy ? proxiesOf(process.env) : noProxy;
  const host = hostOf(url);
  // A proxy resolves the name itself.
  const addresses = proxies(url) === undefined ? addressesOf(host) : [host];
  const check = { options, proxies };
  let untrusted = 0;
  return async (signal) => {
    try {
      await firstOf(addresses, signal, (address, own) => follow(url, address, check, own));
      untrusted = 0;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ResponseError) untrusted = 0;
      if (error instanceof ResponseError) throw error;
      const { code = "" } = error as NodeJS.ErrnoException;
      untrusted = UNTRUSTED.includes(code) ? untrusted + 1 : 0;
      if (untrusted === 0) throw new Error(reasonOf(error));
      const reason = `certificate not trusted: ${code}`;
      if (untrusted < CERTIFICATE_TRIES || options.not) throw new Error(reason);
      throw new TerminalError(`${reason}; pass --cacert FILE, or -k to accept any`);
    }
  };
}

/** What all requests of a check have in common. */
interface Check {
  readonly options: HttpOptions;
  readonly proxies: ProxyFinder;
}

/** Asks, follows redirects if told, and judges the last response. */
async function follow(url: URL, address: string, check: Check, signal: AbortSignal): Promise<void> {
  const { options } = check;
  let target = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const to = target === url ? address : hostOf(target);
    const headers = target.origin === url.origin ? options.headers : {};
    const reply = await ask({ url: target, address: to, headers }, check, signal);
    const { location } = reply;
    if (location === undefined || !isFollowed(reply, options)) return judge(reply, options);
    target = redirectOf(location, target, url);
  }
  throw new ResponseError(`more than ${MOST_REDIRECTS} redirects`);
}

/** Where a redirect leads. The credentials of a URL are for its origin; those of a redirect are not ours. */
function redirectOf(location: string, from: URL, { origin, username, password }: URL): URL {
  const next = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (next === undefined || !/^https?:$/.test(next.protocol) || next.hostname === "")
    throw new ResponseError("redirects to what is no URL of http");
  [next.username, next.password] = next.origin === origin ? [username, password] : ["", ""];
  return next;
}

function isFollowed({ status, location }: Omit<Reply, "body">, { follow }: HttpOptions): boolean {
  return follow && status >= 300 && status <= 399 && location !== undefined;
}

function isWanted(status: number, { status: ranges }: HttpOptions): boolean {
  return ranges.some(([from, to]) => status >= from && status <= to);
}

function judge({ status, body }: Reply, options: HttpOptions): void {
  const { body: wanted } = options;
  if (!isWanted(status, options)) throw new ResponseError(`HTTP ${status}`);
  if (typeof wanted === "string" && !body.includes(wanted))
    throw new ResponseError(`HTTP ${status}, body without the text`);
  if (wanted instanceof RegExp && body.search(wanted) < 0)
    throw new ResponseError(`HTTP ${status}, body does not match`);
}

interface Reply {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/** One request. */
interface Question {
  readonly url: URL;
  /** Where it goes if there is no proxy. */
  readonly address: string;
  /** In addition to Host and the credentials of the URL. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks by node:http: fetch refuses ports such as 6000 and URLs with credentials. */
async function ask(
  { url, address, headers }: Question,
  { options, proxies }: Check,
  signal: AbortSignal,
): Promise<Reply> {
  const proxy = proxies(url);
  const isSecure = url.protocol === "https:";
  const host = hostOf(url);
  const common: RequestOptions = {
    method: options.method,
    headers: { host: url.host, ...headers },
    path: `${url.pathname}${url.search}`,
    ...(url.username !== "" && { auth: credentialsOf(url) }),
  };
  const tls = tlsOptions(host, options);
  if (proxy === undefined) {
    const find = address === host ? lookup : lookupOf(address);
    const direct = { ...common, agent: false as const, host, port: portOf(url), lookup: find };
    const request = isSecure ? httpsRequest({ ...direct, ...tls }) : httpRequest(direct);
    return await replyTo(request, options, signal);
  }
  if (!isSecure) {
    const path = `http://${url.host}${common.path}`;
    const toProxy = { ...common, path, headers: { ...common.headers, ...proxyHeaders(proxy) } };
    return await replyTo(requestTo(proxy, toProxy), options, signal).catch(ofProxy);
  }
  const tunnel = await tunnelTo(url, proxy, signal).catch(ofProxy);
  try {
    const inner = connectTls({ ...tls, socket: tunnel, host });
    // With an agent, also with `false`, node:http would make a connection of its own.
    const request = httpRequest({ ...common, createConnection: () => inner });
    return await replyTo(request, options, signal);
  } finally {
    tunnel.destroy();
  }
}

/** A request to a proxy: its own certificate is checked, whatever `-k` allows the target. */
function requestTo(proxy: URL, options: RequestOptions): ReturnType<typeof httpRequest> {
  const host = hostOf(proxy);
  const all = { ...options, agent: false as const, host, port: portOf(proxy), lookup };
  if (proxy.protocol === "http:") return httpRequest(all);
  return httpsRequest({ ...all, ...(isIP(host) === 0 && { servername: host }) });
}

function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const credentials = Buffer.from(credentialsOf(proxy)).toString("base64");
  return { "proxy-authorization": `Basic ${credentials}` };
}

/** Says that the proxy is the problem, whose certificate no option trusts. */
function ofProxy(error: unknown): never {
  throw new ResponseError(`proxy: ${reasonOf(error)}`);
}

/** A connection to the host of a URL, through a proxy. */
async function tunnelTo(url: URL, proxy: URL, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const authority = `${url.hostname}:${portOf(url)}`;
  const headers = { host: authority, ...proxyHeaders(proxy) };
  const request = requestTo(proxy, { method: "CONNECT", path: authority, headers });
  return await new Promise<Socket>((resolve, reject) => {
    const link = onAbort(signal, (reason) => {
      request.destroy();
      reject(reason);
    });
    const settle = (settled: () => void): void => {
      link[Symbol.dispose]();
      settled();
    };
    request.on("error", (error) => settle(() => reject(error)));
    request.once("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      socket.on("error", () => undefined); // It is told by the TLS in it.
      const isOpen = statusCode >= 200 && statusCode <= 299;
      if (head.length > 0) socket.unshift(head);
      if (!isOpen || signal.aborted) socket.destroy();
      settle(() => (isOpen ? resolve(socket) : reject(new Error(`HTTP ${statusCode}`))));
    });
    request.end();
  });
}

function tlsOptions(host: string, { insecure, cacert }: HttpOptions) {
  return {
    rejectUnauthorized: !insecure,
    ...(cacert !== undefined && { ca: cacert }),
    ...(isIP(host) === 0 && { servername: host }),
  };
}

function credentialsOf({ username, password }: URL): string {
  return `${decoded(username)}:${decoded(password)}`;
}

/** A lone percent sign stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lookupOf(address: string): LookupFunction {
  const family = isIP(address);
  return (_hostname, { all }, callback) => {
    if (all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

async function replyTo(
  request: ReturnType<typeof httpRequest>,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    return await new Promise<Reply>((resolve, reject) => {
      const link = onAbort(signal, (reason) => reject(reason));
      const settle = (settled: () => void) => {
        link[Symbol.dispose]();
        settled();
      };
      request.on("error", (error) => settle(() => reject(error)));
      request.on("response", (response) => {
        const { statusCode: status = 0 } = response;
        const { location } = response.headers;
        const done = (body: string) => settle(() => resolve({ status, location, body }));
        // A body that stalls must not hide a status that decides.
        const isDecided = !isWanted(status, options) || isFollowed({ status, location }, options);
        if (options.body === undefined || isDecided) done("");
        else readBody(response, options.body, done);
        response.on("error", (error) => settle(() => reject(error)));
      });
      request.end();
    });
  } finally {
    request.on("error", () => undefined);
    request.destroy();
  }
}

/** A text that has come decides: a body that goes on, or stalls, must not hide it. An expression may need the end. */
function readBody(
  response: IncomingMessage,
  wanted: string | RegExp,
  done: (body: string) => void,
): void {
  let body = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const from = typeof wanted === "string" ? body.length - wanted.length : 0;
    body += chunk;
    const isFound = typeof wanted === "string" && body.includes(wanted, from);
    if (isFound || body.length >= LONGEST_BODY) done(body.slice(0, LONGEST_BODY));
  });
  response.on("end", () => done(body));
}
