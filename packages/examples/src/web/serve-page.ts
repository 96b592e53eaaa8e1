import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@holdfast/clock";
import { EventStream } from "./event-stream.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { PageFiles } from "./page-files.ts";
import { jsonReply, type Reply, sendReply, textReply } from "./reply.ts";
import type { StatusSource } from "./status-source.ts";

/** Replies to a request; rejects for a 500. */
export type Route = (url: URL) => Reply | Promise<Reply>;

/** Options for {@link servePage}. */
export interface PageOptions {
  readonly clock: Clock;
  /** 0 takes a free one. */
  readonly port: number;
  readonly status: StatusSource;
  /** The folder of the page below `src`. */
  readonly page: string;
  /** Routes of GET beside the page and its data, by path. */
  readonly routes?: ReadonlyMap<string, Route>;
  /** Routes of POST, by path. Only the page itself may ask. */
  readonly actions?: ReadonlyMap<string, Route>;
}

/** A server that runs until it is disposed. */
export interface WebServer extends AsyncDisposable {
  /** The address of the page. */
  readonly url: string;
}

/** How long replies under way may take when the server closes, in milliseconds. */
const GRACE = 1_000;

const HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** A name that a stranger's DNS could lead here is none of these: a foreign page must not read ours. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The paths of a server and their routes. */
class Paths {
  readonly #files: PageFiles;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #actions: ReadonlyMap<string, Route>;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ page, status, routes = new Map(), actions = new Map() }: PageOptions) {
    this.#files = new PageFiles(page);
    this.#routes = new Map([["/state", () => jsonReply(200, status.snapshot())], ...routes]);
    this.#actions = actions;
    this.headers = { ...HEADERS, "content-security-policy": this.#files.policy };
  }

  /** The methods that a path allows. */
  allowed(path: string): string {
    return this.#actions.has(path) ? "POST" : "GET, HEAD";
  }

  /** The reason why a request gets no reply; undefined if it gets one. */
  refusalOf({ method = "", url = "", headers }: IncomingMessage, path: string): Reply | undefined {
    const { host = "", origin } = headers;
    if (!OWN_HOST.test(host)) return textReply(421, "Use 127.0.0.1 or localhost.");
    const allowed = this.allowed(path);
    if (!allowed.split(", ").includes(method)) return textReply(405, `Use ${allowed}.`);
    // The route is found by the parsed path: a path with another spelling must not have passed the checks as another.
    if (!url.startsWith("/") || url.replace(/[?#].*/, "") !== path)
      return textReply(400, "Request a path in its shortest form.");
    // Browsers send it with each POST: a foreign page can ask, and must not be obeyed.
    if (method === "POST" && origin !== `http://${host}`)
      return textReply(403, "Only the page itself may send this request.");
    return undefined;
  }

  async replyTo(url: URL): Promise<Reply> {
    const route = this.#actions.get(url.pathname) ?? this.#routes.get(url.pathname);
    if (route !== undefined) return await route(url);
    const file = this.#files.read(url.pathname);
    return file === undefined ? textReply(404, "Not found.") : { status: 200, ...file };
  }
}

function handlerOf(options: PageOptions, stream: EventStream): Handler {
  const paths = new Paths(options);
  return async (request, response) => {
    request.resume(); // No reply depends on a body.
    for (const [name, value] of Object.entries(paths.headers)) response.setHeader(name, value);
    const { url: target = "" } = request;
    const url = new URL(`http://127.0.0.1${target.startsWith("/") ? target : "/"}`);
    const refusal = paths.refusalOf(request, url.pathname);
    if (refusal !== undefined) {
      response.setHeader("allow", paths.allowed(url.pathname));
      sendReply(response, refusal);
    } else if (url.pathname === "/events") stream.add(response);
    else sendReply(response, await paths.replyTo(url));
  };
}

/**
 * Serves a page and its data on 127.0.0.1.
 *
 * | Path | |
 * | --- | --- |
 * | `/` | the page |
 * | `/state` | a snapshot as JSON |
 * | `/events` | snapshots as they come, see {@link EventStream} |
 *
 * @returns the server, when it listens; rejects if the port is taken. Once it has been disposed, no
 * connection and no timer is left
 */
export async function servePage(options: PageOptions): Promise<WebServer> {
  const { clock, port } = options;
  const stream = new EventStream(options);
  const handle = handlerOf(options, stream);
  const server = createServer(
    oneAtATime((request, response) => {
      handle(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendReply(response, textReply(500, `Failed: ${String(error)}`));
      });
    }),
  );
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
