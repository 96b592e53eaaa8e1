import type { Agent, OutgoingHttpHeaders } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Clock } from "@holdfast/clock";
import { RepeatedLines, Secrets } from "@holdfast/clock/internal";
import type { Logger } from "@holdfast/controller";
import { warn } from "../logger.ts";

const HIDDEN = "[hidden]";

/**
 * Headers and connections that authenticate the client. The only object that holds a token; it never shows it.
 */
export class Credentials {
  /** Connections with the CA and the client certificate. */
  readonly agent: Agent;
  #bare: Credentials | undefined = undefined;
  #secrets: Secrets | undefined = undefined;
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

  /** A text of the server without the values of these headers, which it may repeat. */
  hide(text: string): string {
    this.#secrets ??= new Secrets({
      headers: Object.entries(this.#headers).flatMap(([name, values]) =>
        [values].flat().map((value) => [name, value] as const),
      ),
    });
    return this.#secrets.hide(text);
  }

  toJSON(): string {
    return HIDDEN;
  }

  static {
    Object.defineProperty(Credentials.prototype, inspect.custom, { value: () => HIDDEN });
  }
}

/**
 * The header for a token.
 *
 * @throws TypeError for an empty one: a server may take the client for anonymous
 */
export function bearer(token: string): Record<string, string> {
  const found = token === "" ? "an empty one" : typeof token;
  if (found !== "string") throw new TypeError(`the token must be text, got ${found}`);
  return { authorization: `Bearer ${token}` };
}

/** Options for {@link CredentialCache}. */
export interface CredentialCacheOptions {
  /** Reads the credentials. */
  readonly load: () => Promise<Credentials>;

  /** Milliseconds after which they are read again. */
  readonly maxAge: number;

  /** Measures their age. */
  readonly clock: Clock;

  /** Receives a warning if they cannot be read again. */
  readonly logger: Logger;
}

/**
 * Credentials that are read when needed, and again when they are old or refused. Requests share one reading. If another
 * reading fails, the last ones stay in use, until they are refused: a file may be gone for a moment.
 */
export class CredentialCache {
  readonly #options: CredentialCacheOptions;
  #readAt = 0;
  #current: Promise<Credentials> | undefined;
  #last: Credentials | undefined;
  readonly #lines: RepeatedLines;

  constructor(options: CredentialCacheOptions) {
    this.#options = options;
    this.#lines = new RepeatedLines(options.clock);
  }

  /** The credentials. Rejects with the error of their reading, after which the next call reads again. */
  get(): Promise<Credentials> {
    const { clock, maxAge } = this.#options;
    const now = clock.monotonic();
    if (this.#current !== undefined && now - this.#readAt < maxAge) return this.#current;
    const loading = this.#load();
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
    this.#last = undefined;
  }

  async #load(): Promise<Credentials> {
    try {
      this.#last = await this.#options.load();
    } catch (error) {
      if (this.#last === undefined) throw error;
      const reason = error instanceof Error ? error.message : typeof error;
      const details = this.#lines.detailsOf(reason);
      if (details !== undefined)
        warn(
          this.#options.logger,
          { reason, ...details },
          "credentials not read; the last ones stay in use",
        );
    }
    return this.#last;
  }

  #drop(loading: Promise<Credentials>): void {
    if (this.#current === loading) this.#current = undefined;
  }
}
