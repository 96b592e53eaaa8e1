import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { onAbort } from "@holdfast/clock";
import { TerminalError } from "@holdfast/wait";
import { addressesOf, firstOf, reasonOf } from "./network.ts";
import { lookup } from "./system-call.ts";

/** Options for {@link httpCheck}. */
export interface HttpOptions {
  readonly method: string;
  readonly status: StatusRanges;
  readonly follow: boolean;
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
 */
export function httpCheck(url: URL, options: HttpOptions): (signal: AbortSignal) => Promise<void> {
  const addresses = addressesOf(hostOf(url));
  let untrusted = 0;
  return async (signal) => {
    try {
      await firstOf(addresses, signal, (address, own) => follow(url, address, options, own));
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

/** Asks, follows redirects if told, and judges the last response. */
async function follow(
  url: URL,
  address: string,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<void> {
  let target = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const to = target === url ? address : hostOf(target);
    const reply = await ask(target, to, options, signal);
    const { status, location } = reply;
    if (!options.follow || status < 300 || status > 399 || location === undefined)
      return judge(reply, options);
    const next = new URL(location, target);
    // Credentials stay with their origin.
    if (next.origin === url.origin) [next.username, next.password] = [url.username, url.password];
    target = next;
  }
  throw new ResponseError(`more than ${MOST_REDIRECTS} redirects`);
}

function judge({ status, body }: Reply, { status: ranges, body: wanted }: HttpOptions): void {
  if (!ranges.some(([from, to]) => status >= from && status <= to))
    throw new ResponseError(`HTTP ${status}`);
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

/** One request, by node:http: fetch refuses ports such as 6000 and URLs with credentials. */
async function ask(
  url: URL,
  address: string,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const { method, headers } = options;
  const proxy = options.proxy ? proxyOf(url) : undefined;
  const path = `${url.pathname}${url.search}`;
  const auth = url.username === "" ? {} : { auth: credentialsOf(url) };
  const common: RequestOptions = {
    method,
    headers: { host: url.host, ...headers },
    agent: false,
    lookup,
    path,
    ...auth,
  };
  const tls = tlsOptions(url, options);
  if (proxy !== undefined && url.protocol === "https:") {
    const socket = await tunnel(proxy, url, signal);
    const createConnection = () => connectTls({ ...tls, socket, host: hostOf(url) });
    return await replyTo(httpRequest({ ...common, createConnection }), options.body, signal);
  }
  if (proxy !== undefined) {
    const through = { host: hostOf(proxy), port: portOf(proxy), path: `http://${url.host}${path}` };
    return await replyTo(httpRequest({ ...common, ...through }), options.body, signal);
  }
  const host = hostOf(url);
  const fixed = address === host ? {} : { lookup: lookupOf(address) };
  const direct = { ...common, host, port: portOf(url), ...fixed };
  const request =
    url.protocol === "https:" ? httpsRequest({ ...direct, ...tls }) : httpRequest(direct);
  return await replyTo(request, options.body, signal);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function tlsOptions(url: URL, { insecure, cacert }: HttpOptions) {
  const host = hostOf(url);
  return {
    rejectUnauthorized: !insecure,
    ...(cacert !== undefined && { ca: cacert }),
    ...(isIP(host) === 0 && { servername: host }),
  };
}

function credentialsOf({ username, password }: URL): string {
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
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
  wanted: HttpOptions["body"],
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
        if (wanted === undefined) done("");
        else readBody(response, done);
        response.on("error", (error) => settle(() => reject(error)));
      });
      request.end();
    });
  } finally {
    request.on("error", () => undefined);
    request.destroy();
  }
}

function readBody(response: IncomingMessage, done: (body: string) => void): void {
  let body = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    body += chunk;
    if (body.length >= LONGEST_BODY) done(body.slice(0, LONGEST_BODY));
  });
  response.on("end", () => done(body));
}

/** The proxy that the environment names for a URL. */
function proxyOf(url: URL): URL | undefined {
  const variable = (name: string) => process.env[name.toLowerCase()] || process.env[name];
  const exceptions = (variable("NO_PROXY") ?? "").split(",").map((one) => one.trim());
  const isDirect = exceptions.some((one) => {
    const domain = one.replace(/^\*?\./, "");
    if (one === "*") return true;
    return domain !== "" && (url.hostname === domain || url.hostname.endsWith(`.${domain}`));
  });
  const proxy = variable(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  return isDirect || !proxy ? undefined : new URL(proxy);
}

async function tunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const request = httpRequest({
    host: hostOf(proxy),
    port: portOf(proxy),
    method: "CONNECT",
    path: `${url.hostname}:${portOf(url)}`,
    agent: false,
    lookup,
    ...(proxy.username !== "" && {
      headers: {
        "proxy-authorization": `Basic ${Buffer.from(credentialsOf(proxy)).toString("base64")}`,
      },
    }),
  });
  return await new Promise<Socket>((resolve, reject) => {
    const link = onAbort(signal, (reason) => {
      request.destroy();
      reject(reason);
    });
    request.once("connect", ({ statusCode }, socket) => {
      link[Symbol.dispose]();
      if (statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new ResponseError(`proxy: HTTP ${statusCode}`));
    });
    request.on("error", (error) => {
      link[Symbol.dispose]();
      reject(error);
    });
    request.end();
  });
}
