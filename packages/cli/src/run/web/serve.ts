import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@holdfast/clock";
import { EventStream } from "./event-stream.ts";
import { type HealthCheck, healthReply } from "./health.ts";
import { metricsOf } from "./metrics.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { mainOf, pageOf, SCRIPT, STYLE } from "./page.ts";
import { jsonReply, type Reply, sendReply, textReply } from "./reply.ts";
import type { SnapshotSource } from "./snapshot.ts";

/** Options for {@link serve}. */
export interface ServeOptions {
  readonly clock: Clock;
  /** 0 takes a free one. */
  readonly port: number;
  readonly status: SnapshotSource;
  /** Checks of `/healthz`: a restart would repair a failure. */
  readonly alive?: readonly HealthCheck[];
  /** Checks of `/readyz`: whether this program is useful now. */
  readonly ready?: readonly HealthCheck[];
  /** What a request for output or a restart has to show; undefined to serve neither. */
  readonly token?: string | undefined;
  /** The last lines of a process; undefined if there is none of the name. */
  readonly linesOf?: (name: string) => readonly string[] | undefined;
  /** Returns false if there is none of the name. */
  readonly restart?: (name: string) => boolean;
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
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** A name that a stranger's DNS could lead here is none of these: a foreign page must not read ours. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

/** Paths for the user of the supervisor only. */
const PRIVATE: ReadonlySet<string> = new Set(["/logs", "/restart"]);

function page(type: string, body: string): Reply {
  return { status: 200, type: `${type}; charset=utf-8`, body };
}

/** The replies of a server, by path. */
class Routes {
  readonly #options: ServeOptions;

  constructor(options: ServeOptions) {
    this.#options = options;
  }

  /** @returns undefined for a path that is none */
  replyTo({ pathname, searchParams }: URL): Reply | undefined {
    const { status, alive = [], ready = [], linesOf, restart } = this.#options;
    const name = searchParams.get("name") ?? "";
    const isVerbose = searchParams.has("verbose");
    switch (pathname) {
      case "/":
        return page("text/html", pageOf(status.snapshot()));
      case "/page.js":
        return page("text/javascript", SCRIPT);
      case "/page.css":
        return page("text/css", STYLE);
      case "/state":
        return jsonReply(200, status.snapshot());
      case "/metrics":
        return page("text/plain; version=0.0.4", metricsOf(status.snapshot()));
      case "/healthz":
        return healthReply(alive, isVerbose);
      case "/readyz":
        return healthReply(ready, isVerbose);
      case "/logs": {
        const lines = linesOf?.(name);
        return lines === undefined ? textReply(404, "no such process") : jsonReply(200, lines);
      }
      case "/restart":
        return restart?.(name) === true
          ? textReply(200, "restarting")
          : textReply(404, "no such process");
      default:
        return undefined;
    }
  }

  /** The reason why a request gets no reply; undefined if it gets one. */
  refusalOf({ method = "", url = "", headers }: IncomingMessage, path: string): Reply | undefined {
    const { host = "", authorization = "" } = headers;
    if (!OWN_HOST.test(host)) return textReply(421, "Use 127.0.0.1 or localhost.");
    const allowed = path === "/restart" ? "POST" : "GET, HEAD";
    if (!allowed.split(", ").includes(method)) return textReply(405, `Use ${allowed}.`);
    // The route is found by the parsed path: a path with another spelling must not have passed the checks as another.
    if (url.replace(/[?#].*/, "") !== path)
      return textReply(400, "Request a path in its shortest form.");
    if (!this.#isAllowed(path, authorization))
      return textReply(403, "Only the user who runs this supervisor may do this.");
    return undefined;
  }

  /** Other users of this machine can connect; the token is in a file that they cannot read. */
  #isAllowed(path: string, authorization: string): boolean {
    if (!PRIVATE.has(path)) return true;
    const { token } = this.#options;
    if (token === undefined) return false;
    const [given, wanted] = [Buffer.from(authorization), Buffer.from(`Bearer ${token}`)];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

function handlerOf(options: ServeOptions, streams: ReadonlyMap<string, EventStream>) {
  const routes = new Routes(options);
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume(); // No reply depends on a body.
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { url: target = "" } = request;
    const url = new URL(`http://127.0.0.1${target.startsWith("/") ? target : "/"}`);
    const refusal = routes.refusalOf(request, url.pathname);
    const stream = streams.get(url.pathname);
    if (refusal === undefined && stream !== undefined) stream.add(response);
    else sendReply(response, refusal ?? routes.replyTo(url) ?? textReply(404, "Not found."));
  };
}

/**
 * Serves the page of a supervisor, its data and its health on 127.0.0.1.
 *
 * | Path | |
 * | --- | --- |
 * | `/` | the page, with the state of the moment |
 * | `/view` | the changing part of the page as server-sent events |
 * | `/state`, `/events` | a `Snapshot` as JSON, once or as server-sent events |
 * | `/healthz`, `/readyz` | 200 or 503; `?verbose` for JSON |
 * | `/metrics` | metrics for Prometheus |
 * | `/logs`, POST `/restart` | for `holdfast run logs` and `restart`, with the token |
 *
 * @returns the server, when it listens; rejects if the port is taken. Once it has been disposed, no
 * connection and no timer is left
 */
export async function serve(options: ServeOptions): Promise<WebServer> {
  const { clock, port, status } = options;
  const streams = new Map([
    ["/events", new EventStream({ clock, status, encode: (snapshot) => snapshot })],
    ["/view", new EventStream({ clock, status, encode: mainOf })],
  ]);
  const endStreams = (): void => {
    for (const stream of streams.values()) stream[Symbol.dispose]();
  };
  const handle = handlerOf(options, streams);
  const server = createServer(
    oneAtATime((request, response) => {
      try {
        handle(request, response);
      } catch (error) {
        if (response.headersSent) response.destroy();
        else sendReply(response, textReply(500, `Failed: ${String(error)}`));
      }
    }),
  );
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    endStreams();
    throw error;
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    endStreams();
    server.close();
    using _ = clock.afterFunc(GRACE, () => server.closeAllConnections(), { label: "close" });
    await closed;
  };
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${actual}/`, [Symbol.asyncDispose]: close };
}
