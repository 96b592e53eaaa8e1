import type { Logger } from "@holdfast/controller";
import { warn } from "../logger.ts";
import type { AgentKeeper } from "./agents.ts";
import { isReset, isTlsRefusal } from "./connection-error.ts";
import type { CredentialCache, Credentials } from "./credentials.ts";
import { type Exchange, exchange, type Server } from "./exchange.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "./kube-transport.ts";
import { readStart } from "./read-body.ts";
import { Slots } from "./slots.ts";

/** Hosts of this machine. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether a server is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** Requests at a time. Each has a connection. */
const MAX_REQUESTS = 100;

/** Requests that wait for no other: a watch lasts for minutes, and a Lease must be renewed in time. */
const UNLIMITED = /[?&]watch=true|^\/apis\/coordination\.k8s\.io\//;

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

  /** Receives a warning about credentials that are not sent. */
  readonly logger: Logger;
}

/** Sends requests over HTTP/1.1, on connections that stay open. */
export class HttpTransport implements KubeTransport {
  readonly description: string;
  readonly namespace?: string;
  readonly #server: Server;
  readonly #credentials: CredentialCache;
  readonly #agents: AgentKeeper;
  readonly #logger: Logger;
  readonly #slots = new Slots(MAX_REQUESTS);
  #hasWarned = false;

  constructor({ url, description, namespace, credentials, ...rest }: HttpTransportOptions) {
    this.description = description;
    if (namespace !== undefined) this.namespace = namespace;
    this.#server = { url, description };
    this.#credentials = credentials;
    this.#agents = rest.agents;
    this.#logger = rest.logger;
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const sent = isLoopback(this.#server.url) ? uncompressed(request) : request;
    const credentials = await this.#read(signal);
    const parts = { server: this.#server, request: sent, signal };
    const first = await this.#try({ ...parts, credentials });
    if ("response" in first && first.response.status !== 401) return first.response;
    const renewed = await this.#renewed(credentials, signal);
    if (renewed !== undefined && mayRepeat(first, request)) {
      const { clock } = this.#credentials;
      if ("response" in first) await readStart(first.response.body, MAX_REFUSAL, { clock, signal });
      return await this.#exchange({ ...parts, credentials: renewed });
    }
    if ("failure" in first) throw first.failure;
    return first.response;
  }

  /** A response, or a failure that may come from the credentials. Rejects with any other. */
  async #try(parts: Exchange): Promise<Attempt> {
    try {
      return { response: await this.#exchange(parts) };
    } catch (failure) {
      if (parts.signal.aborted || !mayRefuse(failure, parts.credentials)) throw failure;
      return { failure };
    }
  }

  async closeIdle(): Promise<void> {
    // Node hands a connection to its request in the next tick, and takes it back in the next tick.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    this.#agents.closeIdle();
  }

  async #exchange(parts: Exchange): Promise<KubeResponse> {
    if (UNLIMITED.test(parts.request.path)) return await exchange(parts);
    const giveBack = await this.#slots.take(parts.signal);
    try {
      return await exchange({ ...parts, onClose: giveBack });
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** The credentials after another reading, or undefined if they are the same. */
  async #renewed(used: Credentials, signal: AbortSignal): Promise<Credentials | undefined> {
    this.#credentials.forget(used);
    const read = await this.#read(signal);
    return read.equal(used) ? undefined : read;
  }

  async #read(signal: AbortSignal): Promise<Credentials> {
    const credentials = await this.#credentials.get(signal);
    const { url } = this.#server;
    if (url.protocol === "https:" || isLoopback(url) || !credentials.haveSecrets)
      return credentials;
    // As kubectl: a token in plain text is everybody's.
    if (!this.#hasWarned)
      warn(this.#logger, { server: url.origin }, "credentials are not sent over http; use https");
    this.#hasWarned = true;
    return credentials.withoutSecrets();
  }
}

/** The end of the first attempt. */
type Attempt = { readonly response: KubeResponse } | { readonly failure: unknown };

/** Whether a server has not carried a request out, or may do so twice. */
function mayRepeat(first: Attempt, { method }: KubeRequest): boolean {
  return "response" in first || isTlsRefusal(first.failure) || method === "GET";
}

/** Whether an error may come from credentials that are no longer the right ones. */
function mayRefuse(error: unknown, credentials: Credentials): boolean {
  return isTlsRefusal(error) || (credentials.haveCertificate && isReset(error));
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
