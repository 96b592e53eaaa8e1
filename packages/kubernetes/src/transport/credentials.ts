import type { Agent, OutgoingHttpHeaders } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Clock } from "@holdfast/clock";

const HIDDEN = "[hidden]";

/**
 * Headers and connections that authenticate the client. The only object that holds a token; it never shows it.
 */
export class Credentials {
  /** Connections with the CA and the client certificate. */
  readonly agent: Agent;
  #bare: Credentials | undefined = undefined;
  readonly #headers: Readonly<Record<string, string | readonly string[]>>;

  /** @throws TypeError for a header that HTTP does not allow, without its value */
  constructor(agent: Agent, headers: Readonly<Record<string, string | readonly string[]>>) {
    for (const [name, value] of Object.entries(headers))
      if ([value].flat().some((text) => !/^[\x20-\x7e]*$/.test(text)))
        throw new TypeError(
          `the credentials for the header "${name}" must be of printable ASCII characters: check the token`,
        );
    this.agent = agent;
    this.#headers = headers;
  }

  /** Whether there is more than a connection. */
  get areNamed(): boolean {
    return Object.keys(this.#headers).length > 0;
  }

  /** Whether the connection has a client certificate, which a server may refuse by closing it. */
  get haveCertificate(): boolean {
    return (this.agent as Partial<HttpsAgent>).options?.cert !== undefined;
  }

  /** Whether these are the same. A keeper has one agent for the same parts of TLS. */
  equal(others: Credentials): boolean {
    return this.agent === others.agent && isDeepStrictEqual(this.#headers, others.#headers);
  }

  /** The same connections, for a server that must not see the rest. */
  withoutHeaders(): Credentials {
    this.#bare ??= new Credentials(this.agent, {});
    return this.#bare;
  }

  /** The headers of a request with those of the credentials. */
  addTo(headers: Readonly<Record<string, string>>): OutgoingHttpHeaders {
    return { ...headers, ...(this.#headers as OutgoingHttpHeaders) };
  }

  toJSON(): string {
    return HIDDEN;
  }

  static {
    Object.defineProperty(Credentials.prototype, inspect.custom, { value: () => HIDDEN });
  }
}

/** The header for a token, or none. */
export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Options for {@link CredentialCache}. */
export interface CredentialCacheOptions {
  /** Reads the credentials. */
  readonly load: () => Promise<Credentials>;

  /** Milliseconds after which they are read again. */
  readonly maxAge: number;

  /** Measures their age. */
  readonly clock: Clock;

  /** Called before the reading that follows a refusal. */
  readonly onRefused?: (() => void) | undefined;
}

/** Credentials that are read when needed, and again when they are old or refused. Requests share one reading. */
export class CredentialCache {
  readonly #options: CredentialCacheOptions;
  #readAt = 0;
  #current: Promise<Credentials> | undefined;

  constructor(options: CredentialCacheOptions) {
    this.#options = options;
  }

  /** The credentials. Rejects with the error of their reading, after which the next call reads again. */
  get(): Promise<Credentials> {
    const { clock, load, maxAge } = this.#options;
    const now = clock.monotonic();
    if (this.#current !== undefined && now - this.#readAt < maxAge) return this.#current;
    const loading = load();
    this.#current = loading;
    this.#readAt = now;
    loading.catch(() => this.#drop(loading));
    return loading;
  }

  /** Reads again at the next call, unless it has happened since `used` was read. */
  async forget(used: Credentials): Promise<void> {
    const current = this.#current;
    if (current === undefined || (await current.catch(() => undefined)) !== used) return;
    this.#drop(current);
    this.#options.onRefused?.();
  }

  #drop(loading: Promise<Credentials>): void {
    if (this.#current === loading) this.#current = undefined;
  }
}
