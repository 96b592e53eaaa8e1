import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { oneAtATime } from "../../web/one-at-a-time.ts";
import type { DnsProvider } from "./dns-provider.ts";

/** A listening provider. */
export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  /** Open connections. */
  readonly connections: number;
}

/**
 * Serves a provider on 127.0.0.1.
 *
 * @param port - default 0, any free port. Rejects if the port is taken
 */
export async function serveProvider(provider: DnsProvider, port = 0): Promise<ProviderServer> {
  let connections = 0;
  const server = createServer(
    oneAtATime((request, response) => {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const { method = "", url: path = "/", headers } = request;
      request.resume();
      const token = headers["fencing-token"];
      provider.handle({ method, path, token: token?.toString() }, gone.signal).then(
        ({ status, type, body, retryAfter }) => {
          if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
          response.writeHead(status, { "content-type": type });
          response.end(body);
        },
        () => request.socket.resetAndDestroy(),
      );
    }),
  );
  server.on("connection", (socket) => {
    connections += 1;
    socket.once("close", () => {
      connections -= 1;
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}`,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
