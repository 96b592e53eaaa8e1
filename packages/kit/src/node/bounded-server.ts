import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { type TurnClock, yieldTurn } from "../event-loop.ts";

/** Options for {@link boundedServer}. */
export interface BoundedServerOptions {
  /** `realClock` of `@holdfast/clock`, on which this package cannot stand. */
  readonly realClock: TurnClock;
  readonly maxConnections: number;
  /** Milliseconds for which a response may stand still, from its request on; 0 for no limit. Default: 30 s. */
  readonly maxResponse?: number;
}

/** Milliseconds for the head of a request, for all of it, and between two requests. */
const MAX_IDLE = 5_000;
const MAX_RESPONSE = 30_000;

const LIMITS = {
  connectionsCheckingInterval: 1_000,
  headersTimeout: MAX_IDLE,
  requestTimeout: MAX_IDLE,
  keepAliveTimeout: MAX_IDLE,
  maxHeaderSize: 16_384,
};

/** Milliseconds for which a connection counts as busy after it was opened or has been answered. */
const FRESH = 1_000;

/** A burst of connections may exceed the limit so many times, for three turns of the event loop. */
const BURST = 10;

/**
 * An HTTP server that any peer may talk to, because a peer costs no more than its connections. Every server of Holdfast
 * is one.
 *
 * - A connection has one request in flight. A connection that sends the next one before its response is cut.
 * - At most `maxConnections` are open. A further one takes the place of the connection that has been idle longest, or
 *   if none has been idle for 1 s, of the one whose last response is the oldest: a new peer is always heard.
 * - A connection that sends nothing, or no whole request, is closed after 5 s; one that does not read, after
 *   `maxResponse`.
 *
 * Its types are those of `node:http`, which the declarations of this package do without: the caller names them.
 */
export function boundedServer<Request, Response, HttpServer>(
  options: BoundedServerOptions,
  handle: (request: Request, response: Response) => void,
): HttpServer {
  return bounded(options, handle as RequestListener) as HttpServer;
}

function bounded(options: BoundedServerOptions, handle: RequestListener): Server {
  const { realClock, maxConnections, maxResponse = MAX_RESPONSE } = options;
  // By the instant of the last response, or of the start: a connection moves to the end with each response.
  const connections = new Map<Socket, number>();
  const inFlight = new Set<Socket>();

  const server = createServer(LIMITS, (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // the parser goes on to the end of what it has read
    if (inFlight.has(socket)) {
      socket.destroy();
      return;
    }
    inFlight.add(socket);
    socket.setTimeout(maxResponse);
    response.once("close", () => {
      inFlight.delete(socket);
      socket.setTimeout(MAX_IDLE);
      if (connections.delete(socket)) connections.set(socket, realClock.monotonic());
    });
    handle(request, response);
  });
  // Also for a connection that never sends a byte, which has no head to wait for.
  server.timeout = MAX_IDLE;

  const evict = (now: number): void => {
    const all = [...connections];
    const isIdle = ([one, since]: [Socket, number]): boolean =>
      now - since >= FRESH && !inFlight.has(one);
    const [victim] = all.find(isIdle) ?? all[0] ?? [];
    if (victim !== undefined) connections.delete(victim);
    victim?.destroy();
  };
  let isSweeping = false;
  const sweep = async (): Promise<void> => {
    isSweeping = true;
    await yieldTurn(realClock);
    await yieldTurn(realClock);
    await yieldTurn(realClock);
    isSweeping = false;
    for (let over = connections.size - maxConnections; over > 0; over--)
      evict(realClock.monotonic());
  };

  server.on("connection", (socket: Socket) => {
    const now = realClock.monotonic();
    connections.set(socket, now);
    socket.once("close", () => connections.delete(socket));
    // Peers that come in one burst are heard first: one turn reads the request, the next ones answer it.
    if (connections.size > maxConnections * BURST) evict(now);
    else if (connections.size > maxConnections && !isSweeping) void sweep();
  });
  return server;
}
