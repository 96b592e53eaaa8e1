import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/**
 * Lets a connection have one request in flight. One that sends the next request before its response is closed: browsers
 * and `fetch` do not, and thousands of requests fit into one packet of a peer that never reads.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const busy = new WeakSet<Socket>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    if (busy.has(socket)) {
      socket.destroy();
      return;
    }
    busy.add(socket);
    response.once("close", () => busy.delete(socket));
    handle(request, response);
  };
}
