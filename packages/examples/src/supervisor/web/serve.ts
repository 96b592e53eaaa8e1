import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@holdfast/clock";
import type { Registry } from "prom-client";
import { EventStream } from "./event-stream.ts";
import { type HealthCheck, healthReply } from "./health.ts";
import { contentSecurityPolicy, pageFile } from "./page-files.ts";
import { jsonReply, type Reply, sendReply, textReply } from "./reply.ts";
import type { StatusSource } from "./status-source.ts";

/** What {@link serve} needs. */
export interface ServeOptions {
  readonly clock: Clock;
  /** 0 takes one that is free. */
  readonly port: number;
  readonly status: StatusSource;
  /** What `/metrics` shows. */
  readonly register: Registry;
  /** What `/healthz` asks: a restart would mend what fails. */
  readonly alive?: readonly HealthCheck[];
  /** What `/readyz` asks: whether this is of use now. */
  readonly ready?: readonly HealthCheck[];
}

/** A server that runs until it is disposed of. */
export interface WebServer extends AsyncDisposable {
  /** Where the page is. */
  readonly url: string;
}

type Answer = (url: URL) => Reply | Promise<Reply>;

/** How long answers under way may take when the server closes, in milliseconds. */
const GRACE = 1_000;

const HEADERS = {
  allow: "GET, HEAD",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function routesOf({ status, register, alive = [], ready = [] }: ServeOptions) {
  const isVerbose = ({ searchParams }: URL): boolean => searchParams.has("verbose");
  return new Map<string, Answer>([
    ["/state", () => jsonReply(200, status.snapshot())],
    ["/healthz", (url) => healthReply(alive, isVerbose(url))],
    ["/readyz", (url) => healthReply(ready, isVerbose(url))],
    [
      "/metrics",
      async () => ({ status: 200, type: register.contentType, body: await register.metrics() }),
    ],
  ]);
}

/** A name that a stranger's DNS could lead here is none of these: a foreign page must not read ours. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

/** Why a question gets no answer, if it does not. */
function refusalOf({ method = "", url = "", headers }: IncomingMessage): Reply | undefined {
  if (!OWN_HOST.test(headers.host ?? "")) return textReply(421, "Ask 127.0.0.1 or localhost.");
  if (method !== "GET" && method !== "HEAD") return textReply(405, "This server only tells.");
  return url.startsWith("/") ? undefined : textReply(400, "Ask for a path.");
}

function fileReply({ pathname }: URL): Reply {
  const file = pageFile(pathname);
  return file === undefined ? textReply(404, "There is nothing here.") : { status: 200, ...file };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function handlerOf(options: ServeOptions, stream: EventStream): Handler {
  const routes = routesOf(options);
  const headers = { ...HEADERS, "content-security-policy": contentSecurityPolicy() };

  return async (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      sendReply(response, refusal);
      return;
    }
    const url = new URL(`http://127.0.0.1${request.url}`);
    if (url.pathname === "/events") stream.add(response);
    else sendReply(response, await (routes.get(url.pathname) ?? fileReply)(url));
  };
}

/**
 * Serves the page of a supervisor, its data and its health on 127.0.0.1.
 *
 * | Path | |
 * | --- | --- |
 * | `/` | the page |
 * | `/state` | a `Snapshot` as JSON |
 * | `/events` | snapshots as they come, see {@link EventStream} |
 * | `/healthz`, `/readyz` | 200 or 503; `?verbose` for JSON |
 * | `/metrics` | what Prometheus scrapes |
 *
 * @returns the server, when it listens; rejects if the port is taken. Once it has been disposed of, no
 * connection and no timer is left
 */
export async function serve(options: ServeOptions): Promise<WebServer> {
  const { clock, port } = options;
  const stream = new EventStream(options);
  const handle = handlerOf(options, stream);
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendReply(response, textReply(500, `It failed: ${String(error)}`));
    });
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    stream[Symbol.dispose]();
    throw error;
  }

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    stream[Symbol.dispose]();
    server.close();
    using _ = clock.afterFunc(GRACE, () => server.closeAllConnections(), { label: "close" });
    await closed;
  };
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${actual}/`, [Symbol.asyncDispose]: close };
}
