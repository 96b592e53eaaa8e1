import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { realClock } from "@holdfast/clock";
import { boundedServer, readUpTo } from "@holdfast/kit/node";
import type { KubeRequest, KubeResponse } from "@holdfast/kubernetes";
import { type Failure, foreignHost, unauthorized, unsupportedMediaType } from "./failure.ts";

/** Longest body of a request, in bytes: the limit of an API server. */
const MAX_REQUEST = 3 * 1024 * 1024;

/** Watches have a connection each, and may be silent. */
const MAX_CONNECTIONS = 1_000;

/** A page of a browser reaches the port by a name of its own, which leads to this machine. */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

/** A page of a browser can send other types, and none, to a server that did not allow it. */
const OWN_TYPE = /^application\/(?!x-www-form-urlencoded)/;

const TYPES = ["application/json", "application/yaml"];

/** Options for {@link HttpFront}. */
export interface HttpFrontOptions {
  readonly port: number;
  readonly token: string | undefined;
  readonly send: (request: KubeRequest, signal: AbortSignal) => Promise<KubeResponse>;
}

/** Serves an API over HTTP on loopback. */
export class HttpFront implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: HttpFrontOptions;
  #port: number;

  constructor(options: HttpFrontOptions) {
    this.#options = options;
    this.#port = options.port;
    const limits = { realClock, maxConnections: MAX_CONNECTIONS, maxResponse: 0 };
    this.#server = boundedServer(
      limits,
      (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response),
    );
  }

  /** Address of the server. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Accepts connections, after a {@link stop} on the same port. Rejects if the port is taken. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(this.#explained(error)));
      this.#server.listen(this.#port, "127.0.0.1", () => {
        this.#server.removeAllListeners("error");
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections, and cuts those that are open. */
  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #explained(error: NodeJS.ErrnoException): Error {
    if (error.code !== "EADDRINUSE") return error;
    const advice = "stop the program that listens on it, or choose another";
    return new Error(`port ${this.#port} of 127.0.0.1 is taken: ${advice}`, { cause: error });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client has closed the connection")));
    try {
      const served = await this.#handle(request, gone.signal);
      response.writeHead(served.status, definedHeaders(served.headers));
      response.flushHeaders();
      for await (const chunk of served.body) await write(response, chunk);
      response.end();
    } catch {
      // A fault, or a client that has gone: both see a connection that breaks.
      request.socket.resetAndDestroy();
    }
  }

  async #handle(request: IncomingMessage, signal: AbortSignal): Promise<KubeResponse> {
    const { token, send } = this.#options;
    const { method = "GET", url: path = "/" } = request;
    const refusal = refusalOf(request, token);
    if (refusal !== undefined) return refused(refusal);
    const read = await readUpTo(request, MAX_REQUEST);
    if (read === undefined)
      throw new RangeError(`${method} ${path}: the request has more than ${MAX_REQUEST} bytes`);
    const body = read.toString("utf8");
    const { authorization: _, ...headers } = singleHeaders(request);
    return send({ method, path, headers, body: body === "" ? undefined : body }, signal);
  }
}

/** The reason why a request gets no further; undefined if it does. */
function refusalOf(
  { headers, method }: IncomingMessage,
  token: string | undefined,
): Failure | undefined {
  const { authorization, host = "", "content-type": type = "" } = headers;
  if (token !== undefined && authorization !== `Bearer ${token}`) return unauthorized();
  if (!OWN_HOST.test(host)) return foreignHost();
  const hasBody =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > 0;
  const needsType = method === "POST" || hasBody;
  return needsType && !OWN_TYPE.test(type) ? unsupportedMediaType(TYPES) : undefined;
}

function refused({ code, status }: Failure): KubeResponse {
  const text = Buffer.from(JSON.stringify(status), "utf8");
  return {
    status: code,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield text;
    })(),
  };
}

function singleHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(entries);
}

function definedHeaders(headers: KubeResponse["headers"]): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Writes, and waits while the client is slower. */
async function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  if (response.write(chunk)) return;
  await new Promise<void>((resolve, reject) => {
    // Of a stream that is full again and again, listeners must not pile up.
    const onDrain = (): void => {
      response.off("close", onClose);
      resolve();
    };
    const onClose = (): void => {
      response.off("drain", onDrain);
      reject(new Error("the client has closed the connection"));
    };
    response.once("drain", onDrain);
    response.once("close", onClose);
  });
}
