import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { type TurnClock, yieldTurn } from "../event-loop.ts";

/** Options for {@link boundedServer}. */
export interface BoundedServerOptions {
  /** `realClock` of `@holdfast/clock`, on which this package cannot stand. */
  readonly realClock: TurnClock;
  readonly maxConnections: number;
  /** Milliseconds for which a response may stand still, from its request on; 0 for no limit. Default: 30 s. */
  readonly maxResponse?: number;
  /** Milliseconds between two requests of a connection. Default: 5 s. */
  readonly maxPause?: number;
  /** Milliseconds for a request. Default: 5 s. */
  readonly maxRequest?: number;
  /** Options of `node:https`, for a server of HTTPS. A handshake has as long as the head of a request. */
  readonly tls?: object;
}

/** Milliseconds for the head of a request, for all of it, and between two requests. */
const MAX_IDLE = 5_000;
const MAX_RESPONSE = 30_000;

const LIMITS = {
  connectionsCheckingInterval: 1_000,
  headersTimeout: MAX_IDLE,
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
 * - A connection that sends nothing, or no whole request, is closed after 5 s, or `maxRequest`; one that does not read, after
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
  const { realClock, maxConnections, maxResponse = MAX_RESPONSE, tls } = options;
  const { maxPause = MAX_IDLE, maxRequest = MAX_IDLE } = options;
  // By the instant of the last response, or of the start: a connection moves to the end with each response.
  const connections = new Map<Socket, number>();
  const inFlight = new Set<Socket>();
  // The connection below a socket of TLS.
  const below = new WeakMap<Socket, Socket>();
  const limits = { ...LIMITS, requestTimeout: maxRequest, keepAliveTimeout: maxPause };

  const listener: RequestListener = (request, response) => {
    const { socket: own } = request;
    const socket = below.get(own) ?? own;
    if (socket.destroyed) return; // the parser goes on to the end of what it has read
    if (inFlight.has(socket)) {
      socket.destroy();
      return;
    }
    inFlight.add(socket);
    own.setTimeout(maxResponse);
    response.once("close", () => {
      inFlight.delete(socket);
      own.setTimeout(maxPause);
      if (connections.delete(socket)) connections.set(socket, realClock.monotonic());
    });
    handle(request, response);
  };
  const server =
    tls === undefined
      ? createServer(limits, listener)
      : createTlsServer(
          { ...limits, handshakeTimeout: MAX_IDLE, ...(tls as ServerOptions) },
          listener,
        );
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

  const byPeer = new Map<string, Socket>();
  server.on("secureConnection", (socket: Socket) => {
    const connection = byPeer.get(peerOf(socket));
    if (connection !== undefined) below.set(socket, connection);
  });
  server.on("connection", (socket: Socket) => {
    const now = realClock.monotonic();
    if (tls !== undefined) {
      const peer = peerOf(socket);
      byPeer.set(peer, socket);
      socket.once("close", () => byPeer.delete(peer));
    }
    connections.set(socket, now);
    socket.once("close", () => connections.delete(socket));
    // Peers that come in one burst are heard first: one turn reads the request, the next ones answer it.
    if (connections.size > maxConnections * BURST) evict(now);
    else if (connections.size > maxConnections && !isSweeping) void sweep();
  });
  return server;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
