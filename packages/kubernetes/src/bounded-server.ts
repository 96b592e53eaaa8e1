import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";

/** Options for {@link boundedServer}: those of Node, and the number of connections. */
export interface BoundedServerOptions extends ServerOptions {
  readonly maxConnections: number;
}

/**
 * An HTTP server that any peer may talk to, because a peer costs no more than its connections.
 *
 * - A connection has one request in flight. A connection that sends the next one before its response is cut.
 * - At most `maxConnections` are open. A further one takes the place of the connection that has been idle longest, or
 *   of the oldest if none is idle: a new peer is always heard.
 */
export function boundedServer(options: BoundedServerOptions, handle: RequestListener): Server {
  const { maxConnections, ...limits } = options;
  // The one that has been idle longest is first: a connection moves to the end with each response.
  const connections = new Set<Socket>();
  const inFlight = new Set<Socket>();

  const server = createServer(limits, (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // the parser goes on to the end of what it has read
    if (inFlight.has(socket)) {
      socket.destroy();
      return;
    }
    inFlight.add(socket);
    response.once("close", () => {
      inFlight.delete(socket);
      if (connections.delete(socket)) connections.add(socket);
    });
    handle(request, response);
  });

  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    if (connections.size <= maxConnections) return;
    const [oldest] = connections;
    const victim = [...connections].find((one) => !inFlight.has(one)) ?? oldest;
    // The new connection is idle, too, and the last.
    const cut = victim === socket ? oldest : victim;
    if (cut !== undefined) connections.delete(cut);
    cut?.destroy();
  });
  return server;
}
