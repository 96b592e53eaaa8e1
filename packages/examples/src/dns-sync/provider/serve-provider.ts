import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { DnsProvider } from "./dns-provider.ts";

/** A listening provider. */
export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves a provider on a free port of 127.0.0.1. */
export async function serveProvider(provider: DnsProvider): Promise<ProviderServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url: path = "/", headers } = request;
    request.resume();
    const token = headers["fencing-token"]?.toString();
    const { status, type, body, retryAfter } = await provider.handle({ method, path, token });
    if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
    response.writeHead(status, { "content-type": type }).end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
