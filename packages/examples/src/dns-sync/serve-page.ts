import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { realClock } from "@holdfast/clock";
import { boundedServer } from "@holdfast/kit/node";
import { every } from "@holdfast/wait";

/** Time between two states, in milliseconds. */
const PERIOD = 500;

/** Browsers have six connections each, of which one stays. */
const MAX_CONNECTIONS = 32;

type Reply = (status: number, type: string, body: string) => void;

export interface PageOptions {
  readonly port: number;
  /** The HTML; its scripts and styles are inline. */
  readonly page: URL;
  readonly state: () => unknown;
  /** What a POST of the page does, by path. */
  readonly actions: Readonly<Record<string, (parameters: URLSearchParams) => unknown>>;
}

/** A page that is served until it is disposed of. */
export interface Page extends AsyncDisposable {
  readonly url: string;
}

/**
 * Serves a page on 127.0.0.1: `/`, its state as JSON at `/state` and as server-sent events at `/events`, and its actions.
 * Rejects if the port is taken.
 */
export async function servePage({ port, page, state, actions }: PageOptions): Promise<Page> {
  const streams = new Set<ServerResponse>();
  const end = new AbortController();
  const event = (): string => `data: ${JSON.stringify(state())}\n\n`;
  const act = ({ headers }: IncomingMessage, { pathname, searchParams }: URL, reply: Reply) => {
    const action = Object.hasOwn(actions, pathname) ? actions[pathname] : undefined;
    if (headers.origin !== `http://${headers.host}`)
      return reply(403, "text/plain", "not for you\n");
    if (action === undefined) return reply(404, "text/plain", "not found\n");
    action(searchParams);
    reply(200, "text/plain", "done\n");
  };
  const server: Server = boundedServer(
    { realClock, maxConnections: MAX_CONNECTIONS },
    (request: IncomingMessage, response: ServerResponse) => {
      request.resume();
      const { method, url = "/", headers } = request;
      const reply: Reply = (status, type, body) => {
        response.writeHead(status, { "content-type": `${type}; charset=utf-8` }).end(body);
      };
      // A page of another site can name this server, and send a POST to it. It can choose neither header.
      if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? ""))
        return reply(421, "text/plain", "use 127.0.0.1 or localhost\n");
      const { pathname } = new URL(url, "http://127.0.0.1");
      if (method === "POST") return act(request, new URL(url, "http://127.0.0.1"), reply);
      if (pathname === "/") return reply(200, "text/html", readFileSync(page, "utf8"));
      if (pathname === "/state") return reply(200, "application/json", JSON.stringify(state()));
      if (pathname !== "/events") return reply(404, "text/plain", "not found\n");
      response.writeHead(200, { "content-type": "text/event-stream" }).write(event());
      streams.add(response);
      response.once("close", () => streams.delete(response));
    },
  );
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const sending = (async () => {
    for await (const _ of every(PERIOD, { signal: end.signal })) {
      const text = event();
      // A reader that is behind gets a later state.
      for (const stream of streams) if (!stream.writableNeedDrain) stream.write(text);
    }
  })();
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}/`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      end.abort();
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, sending]);
    },
  };
}
