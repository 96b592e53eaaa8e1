import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { onAbort } from "@holdfast/clock";
import { isThenable } from "@holdfast/kit";
import { ConnectionError, codeOf } from "./connection-error.ts";
import type { Credentials } from "./credentials.ts";
import type { KubeRequest, KubeResponse } from "./kube-transport.ts";

/** Name of the client in the audit log and the metrics of a server. */
const USER_AGENT = "holdfast-kubernetes";

/** Where a request goes. */
export interface Server {
  /** Address. Its path is put in front of those of requests. */
  readonly url: URL;

  /** Description for errors. */
  readonly description: string;
}

/** A request, its way and its end. */
export interface Exchange {
  readonly server: Server;
  readonly request: KubeRequest;
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
  /** Called when the response has ended, or was left. */
  readonly onClose?: () => void;
}

/**
 * Sends a request once, or twice: a GET goes again if the server has closed the idle connection that it took.
 *
 * @returns the head, with any status, and the body
 * @throws ConnectionError, or `signal.reason`
 */
export async function exchange(parts: Exchange): Promise<KubeResponse> {
  try {
    return await exchangeOnce(parts);
  } catch (error) {
    if (parts.signal.aborted || !(error instanceof StaleSocketError)) throw error;
    return await exchangeOnce(parts);
  }
}

/** The connection was idle before this request, and the server has closed it. */
class StaleSocketError extends ConnectionError {}

async function exchangeOnce(parts: Exchange): Promise<KubeResponse> {
  const { server, request, signal } = parts;
  const sent = open(parts);
  return await new Promise((resolve, reject) => {
    const subscription = onAbort(signal, (reason) => {
      reject(reason);
      sent.destroy();
    });
    const fail = (error: unknown): void => {
      subscription[Symbol.dispose]();
      const Failure = isStale(sent, error) ? StaleSocketError : ConnectionError;
      reject(signal.aborted ? signal.reason : new Failure(request, server.description, error));
    };
    sent.on("error", fail); // Also after the head, when the body reports it: a second reject does nothing.
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new Error("the server switched protocols, which was not asked for"));
    });
    sent.on("response", (response) => {
      response.once("close", () => {
        subscription[Symbol.dispose]();
        parts.onClose?.();
      });
      resolve(responseOf(parts, response));
    });
    const { beforeSend } = request;
    if (beforeSend === undefined) {
      sent.end(request.body);
      return;
    }
    const refuse = (error: unknown): void => {
      subscription[Symbol.dispose]();
      reject(error);
      sent.destroy();
    };
    whenConnected(sent, server.url, () => {
      try {
        const asked = beforeSend();
        if (isThenable(asked)) asked.then(() => sent.end(request.body), refuse);
        else sent.end(request.body);
      } catch (error) {
        refuse(error);
      }
    });
  });
}

/** Calls `send` when a request has a connection that is open. */
function whenConnected(sent: ClientRequest, { protocol }: URL, send: () => void): void {
  const isOpen = protocol === "https:" ? "secureConnect" : "connect";
  sent.once("socket", (socket) => {
    if (socket.connecting) socket.once(isOpen, send);
    else send();
  });
}

function open({ server: { url, description }, request, credentials }: Exchange): ClientRequest {
  const { method, path, headers, body } = request;
  const length =
    body === undefined ? {} : { "content-length": String(Buffer.byteLength(body, "utf8")) };
  const base = url.pathname.replace(/\/$/, "");
  const options = {
    method,
    path: base + path,
    headers: credentials.addTo({ "user-agent": USER_AGENT, ...headers, ...length }),
    agent: credentials.agent,
  };
  try {
    return (url.protocol === "http:" ? httpRequest : httpsRequest)(url, options);
  } catch (error) {
    throw new ConnectionError(request, description, error); // a certificate or a key that is none
  }
}

function isStale(sent: ClientRequest, error: unknown): boolean {
  return (
    sent.method === "GET" && sent.reusedSocket && ["ECONNRESET", "EPIPE"].includes(codeOf(error))
  );
}

function responseOf(parts: Exchange, response: IncomingMessage): KubeResponse {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(response.headers))
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  const isGzip = headers["content-encoding"] === "gzip";
  const source = isGzip ? gunzip(response) : response;
  const hide = (text: string): string => parts.credentials.hide(text);
  return { status: response.statusCode as number, headers, body: bodyOf(parts, source), hide };
}

// Both streams end together; the reader of the second one receives an error.
function gunzip(response: IncomingMessage): Readable {
  return pipeline(response, createGunzip(), () => {});
}

/** A body that closes its connection at once when it is left, also while it waits for a chunk. */
function bodyOf(parts: Exchange, source: Readable): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = chunksOf(parts, source);
      const leave = (): ReturnType<typeof chunks.return> => {
        source.destroy();
        return chunks.return();
      };
      return { next: () => chunks.next(), return: leave };
    },
  };
}

async function* chunksOf(
  { request, server, signal }: Exchange,
  source: Readable,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      if (signal.aborted) break;
      yield chunk;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : new ConnectionError(request, server.description, error);
  }
  if (signal.aborted) throw signal.reason;
}
