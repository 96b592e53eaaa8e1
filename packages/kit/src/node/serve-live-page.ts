import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TurnClock } from "../event-loop.ts";
import { boundedServer } from "./bounded-server.ts";
import { EventStream, type PageClock } from "./event-stream.ts";
import { livePage, SCRIPT, type SnapshotSource, STYLE } from "./live-page.ts";
import { jsonReply, type Reply, textReply, typedReply } from "./reply.ts";

/** Options for {@link serveLivePage}. */
export interface LivePageOptions<Snapshot extends { readonly at: number }> {
  readonly clock: PageClock;
  /** `realClock` of `@holdfast/clock`, by which the server measures its connections. */
  readonly realClock: TurnClock;
  /** 0 takes a free one. */
  readonly port: number;
  /** `at` of a snapshot is an instant in milliseconds since the epoch. */
  readonly status: SnapshotSource<Snapshot>;
  /** The part of a snapshot that other users of this machine may see. Default: all of it. */
  readonly forOthers?: (snapshot: Snapshot) => Snapshot;
  /** What shows that a request comes from the user of this process: as `?token=`, or as a bearer in `Authorization`. */
  readonly token?: string | undefined;
  /** The title of the page. */
  readonly title: (snapshot: Snapshot) => string;
  /** The HTML of its content. Elements with an `id` that stay the same keep focus and selection. */
  readonly main: (snapshot: Snapshot) => string;
  /** CSS beside that of all live pages. */
  readonly style?: string;
  /** Replies to the other paths; undefined for a path that is none. */
  readonly reply?: (url: URL) => Reply | undefined;
  /** Those of them that take POST, and not GET. */
  readonly actions?: ReadonlySet<string>;
  /** Those of them that need the token in `Authorization`, beside the actions: no page of another site can send that header. */
  readonly secret?: ReadonlySet<string>;
}

/** A server that runs until it is disposed. */
export interface LiveServer extends AsyncDisposable {
  /** The address of the page. */
  readonly url: string;
}

/** Browsers have six connections each, of which one is a stream. */
const MAX_CONNECTIONS = 32;
/** A further stream takes the place of the oldest. */
const MAX_STREAMS = 16;

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

/** Sends a reply. Node leaves the body out where the request was HEAD. */
function sendReply(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** The token in `Authorization`. */
function bearerOf({ headers: { authorization = "" } }: IncomingMessage): string | undefined {
  return /^Bearer (.*)$/i.exec(authorization)?.[1];
}

/** Whether a request shows a token: other users of this machine can connect. */
function isToken(token: string | undefined, given: string | undefined): boolean {
  if (!token || given === undefined) return false;
  const [mine, theirs] = [Buffer.from(token), Buffer.from(given)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}

/** Refuses what only the user of this process may do: requests without the token, and those of other pages. */
function strangerRefusal(request: IncomingMessage, token: string | undefined): Reply | undefined {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`)
    return textReply(403, "Only the page of this server may do this.");
  if (isToken(token, bearerOf(request))) return undefined;
  return textReply(403, "This needs the token: open the address that the command has printed.");
}

/** What some requests see of a status. */
interface View<Snapshot> {
  readonly snapshot: () => Snapshot;
  /** By path. */
  readonly streams: ReadonlyMap<string, EventStream<Snapshot>>;
}

function viewOf<Snapshot extends { readonly at: number }>(
  { clock, status, main }: LivePageOptions<Snapshot>,
  seen: (snapshot: Snapshot) => Snapshot,
): View<Snapshot> {
  const snapshot = (): Snapshot => seen(status.snapshot());
  const source = { snapshot, onChange: (listener: () => void) => status.onChange(listener) };
  const streams = new Map([
    ["/events", new EventStream<Snapshot>({ clock, status: source, encode: (whole) => whole })],
    ["/view", new EventStream<Snapshot>({ clock, status: source, encode: main })],
  ]);
  return { snapshot, streams };
}

const NO_PATHS: ReadonlySet<string> = new Set();

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

function handlerOf<Snapshot extends { readonly at: number }>(
  options: LivePageOptions<Snapshot>,
  views: { readonly own: View<Snapshot>; readonly others: View<Snapshot> },
): Handler {
  const { title, main, style = "", reply, token } = options;
  const { actions = NO_PATHS, secret = NO_PATHS } = options;
  const replyTo = (url: URL, view: View<Snapshot>): Reply | undefined => {
    switch (url.pathname) {
      case "/": {
        const snapshot = view.snapshot();
        const { at } = snapshot;
        return typedReply(
          "text/html",
          livePage({ title: title(snapshot), at, main: main(snapshot) }),
        );
      }
      case "/page.js":
        return typedReply("text/javascript", SCRIPT);
      case "/page.css":
        return typedReply("text/css", `${STYLE}${style}`);
      case "/state":
        return jsonReply(200, view.snapshot());
      default:
        return reply?.(url);
    }
  };
  const refusalOf = (request: IncomingMessage, path: string): Reply | undefined => {
    const { method = "", url = "", headers } = request;
    if (!OWN_HOST.test(headers.host ?? "")) return textReply(421, "Use 127.0.0.1 or localhost.");
    const allowed = actions.has(path) ? "POST" : "GET, HEAD";
    if (!allowed.split(", ").includes(method)) return textReply(405, `Use ${allowed}.`);
    // The route is found by the parsed path: a path with another spelling must not have passed the checks as another.
    if (url.replace(/[?#].*/, "") !== path)
      return textReply(400, "Request a path in its shortest form.");
    const isOpen = !actions.has(path) && !secret.has(path);
    return isOpen ? undefined : strangerRefusal(request, token);
  };
  const streaming = new Set<ServerResponse>();
  const follow = (stream: EventStream<Snapshot>, response: ServerResponse): void => {
    streaming.add(response);
    response.once("close", () => streaming.delete(response));
    stream.add(response);
    const [oldest = response] = streaming;
    if (streaming.size <= MAX_STREAMS) return;
    streaming.delete(oldest);
    oldest.destroy();
  };
  return (request, response) => {
    request.resume(); // No reply depends on a body.
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { url: target = "" } = request;
    const url = new URL(`http://127.0.0.1${target.startsWith("/") ? target : "/"}`);
    const refused = refusalOf(request, url.pathname);
    const view = isToken(token, url.searchParams.get("token") ?? bearerOf(request))
      ? views.own
      : views.others;
    const stream = view.streams.get(url.pathname);
    if (refused === undefined && stream !== undefined) follow(stream, response);
    else sendReply(response, refused ?? replyTo(url, view) ?? textReply(404, "Not found."));
  };
}

/**
 * Serves a page that follows a status, on 127.0.0.1.
 *
 * | Path | |
 * | --- | --- |
 * | `/` | the page, with the state of the moment |
 * | `/view` | the changing part of the page as server-sent events |
 * | `/state`, `/events` | a snapshot as JSON, once or as server-sent events |
 * | an action | what the page does, by POST of this page or of a program, with the token in `Authorization` |
 *
 * It has 32 connections and 16 streams at most: a further one takes the place of the oldest.
 *
 * @returns the server, when it listens; rejects if the port is taken. Once it has been disposed, no
 * connection and no timer is left
 */
export async function serveLivePage<Snapshot extends { readonly at: number }>(
  options: LivePageOptions<Snapshot>,
): Promise<LiveServer> {
  const { clock, realClock, port, forOthers } = options;
  const own = viewOf(options, (snapshot) => snapshot);
  const views = { own, others: forOthers === undefined ? own : viewOf(options, forOthers) };
  const endStreams = (): void => {
    for (const { streams } of Object.values(views))
      for (const stream of streams.values()) stream[Symbol.dispose]();
  };
  const handle = handlerOf(options, views);
  const server: Server = boundedServer(
    { realClock, maxConnections: MAX_CONNECTIONS },
    (request: IncomingMessage, response: ServerResponse) => {
      try {
        handle(request, response);
      } catch {
        if (response.headersSent) response.destroy();
        else sendReply(response, textReply(500, "The state cannot be shown."));
      }
    },
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
