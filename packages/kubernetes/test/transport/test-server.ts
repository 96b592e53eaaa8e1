import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server saw it. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Handler = (request: SeenRequest, response: ServerResponse) => void;

/** A server on 127.0.0.1. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Open connections. */
  readonly sockets: Set<Socket>;
  /** Connections so far. */
  readonly connections: () => number;
}

/** Starts a server; with `tls` it speaks TLS. Ends at disposal. */
export async function testServer(handler: Handler, tls?: ServerOptions): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener = (message: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("error", () => {});
    message.on("end", () => {
      const { method = "", url: path = "", headers } = message;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      requests.push(request);
      handler(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    requests,
    sockets,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON. */
export function answer(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
