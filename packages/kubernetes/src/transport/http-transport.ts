import { abortable } from "@holdfast/clock/internal";
import type { AgentKeeper } from "./agents.ts";
import type { CredentialCache, Credentials } from "./credentials.ts";
import { exchange, type Server } from "./exchange.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "./kube-transport.ts";
import { readStart } from "./read-body.ts";

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The part of a refusal that is read, so that its connection can be used again, in bytes. */
const MAX_REFUSAL = 65_536;

/** Options for {@link HttpTransport}. */
export interface HttpTransportOptions extends Server {
  /** Namespace of the pod or of the context. */
  readonly namespace?: string | undefined;

  /** The caller's credentials. */
  readonly credentials: CredentialCache;

  /** Keeper of the agents that the credentials have. */
  readonly agents: AgentKeeper;
}

/** Sends requests over HTTP/1.1, on connections that stay open. */
export class HttpTransport implements KubeTransport {
  readonly description: string;
  readonly namespace?: string;
  readonly #server: Server;
  readonly #credentials: CredentialCache;
  readonly #agents: AgentKeeper;

  constructor({ url, description, namespace, credentials, agents }: HttpTransportOptions) {
    this.description = description;
    if (namespace !== undefined) this.namespace = namespace;
    this.#server = { url, description };
    this.#credentials = credentials;
    this.#agents = agents;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const sent = LOOPBACK.test(this.#server.url.hostname) ? uncompressed(request) : request;
    const credentials = await this.#read(signal);
    const parts = { server: this.#server, request: sent, signal };
    const response = await exchange({ ...parts, credentials });
    if (response.status !== 401 || !credentials.areNamed) return response;
    await this.#credentials.forget(credentials);
    const renewed = await this.#read(signal);
    await readStart(response.body, MAX_REFUSAL);
    return await exchange({ ...parts, credentials: renewed });
  }

  async closeIdle(): Promise<void> {
    // Node hands a connection to its request in the next tick, and takes it back in the next tick.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    this.#agents.closeIdle();
  }

  async #read(signal: AbortSignal): Promise<Credentials> {
    return await abortable(() => this.#credentials.get(), signal);
  }
}

/** Without asking for gzip: between two processes of one machine it only costs. */
function uncompressed(request: KubeRequest): KubeRequest {
  const { "accept-encoding": _, ...headers } = request.headers;
  return { ...request, headers };
}

/**
 * Reads the address of a server.
 *
 * @throws TypeError or RangeError for one that is none. The message leaves out user and password
 */
export function requireServer(name: string, value: unknown): URL {
  const allowed = `${name} must be an address such as "https://127.0.0.1:6443"`;
  if (typeof value !== "string") throw new TypeError(`${allowed}, got ${typeof value}`);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) throw new RangeError(`${allowed}, got text that is not a URL`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new RangeError(`${allowed}, got the protocol "${url.protocol}"`);
  if (url.username !== "" || url.password !== "")
    throw new RangeError(
      `${name} must not contain a user or a password, got one for ${url.host}: pass a token`,
    );
  if (url.search !== "" || url.hash !== "")
    throw new RangeError(`${name} must not contain a query or a fragment, got one for ${url.host}`);
  return url;
}
