import type { Agent, OutgoingHttpHeaders } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { inspect, isDeepStrictEqual } from "node:util";
import { abortable, type Clock } from "@holdfast/clock";
import type { Logger } from "@holdfast/controller";
import { RepeatedLines, Secrets } from "@holdfast/kit";
import { Deadline } from "@holdfast/wait/limit";
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

  /** Whether a header proves who the client is. */
  get haveSecrets(): boolean {
    return Object.keys(this.#headers).some((name) => !isPublic(name));
  }

  /** Whether the connection has a client certificate, which a server may refuse by closing it. */
  get haveCertificate(): boolean {
    return (this.agent as Partial<HttpsAgent>).options?.cert !== undefined;
  }

  /** Whether these are the same. A keeper has one agent for the same parts of TLS. */
  equal(others: Credentials): boolean {
    return this.agent === others.agent && isDeepStrictEqual(this.#headers, others.#headers);
  }

  /** The same, for a server that must not see the secrets. */
  withoutSecrets(): Credentials {
    const kept = Object.entries(this.#headers).filter(([name]) => isPublic(name));
    this.#bare ??= new Credentials(this.agent, Object.fromEntries(kept));
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

/** Without the header of an impersonation, a request behind `kubectl proxy` would be made as somebody with more rights. */
function isPublic(header: string): boolean {
  return header.startsWith("impersonate-");
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

/** Requests wait this long for other credentials while they have good ones, in milliseconds. */
const PATIENCE = 500;

/** A reading may last this long, in milliseconds, before another one begins beside it. */
const MAX_READING = 60_000;

const NEVER: AbortSignal = new AbortController().signal;

/** Options for {@link CredentialCache}. */
export interface CredentialCacheOptions {
  /** Reads the credentials. `areRefused`: the server has refused the last ones. */
  readonly load: (areRefused: boolean) => Promise<Credentials>;

  /** Milliseconds after which they are read again. */
  readonly maxAge: number;

  /** Measures their age. */
  readonly clock: Clock;

  /** Receives a warning if they cannot be read again. */
  readonly logger: Logger;
}

/** Credentials, and when their reading began. */
interface Read {
  readonly credentials: Credentials;
  readonly startedAt: number;
}

/** A reading that has not ended. */
interface Reading {
  readonly startedAt: number;

  /** Its credentials, or those of a reading that ends before it. */
  readonly result: Promise<Credentials>;

  /** Gives the credentials to those who wait for `result`. */
  readonly release: (credentials: Credentials) => void;
}

/**
 * Credentials that are read when needed, and again when they are old or refused. Requests share one reading.
 *
 * Only the server decides that credentials are no longer good. Until it refuses them, a reading that fails or hangs holds
 * up no request: a file may be gone for a moment, a plugin may wait for the network.
 *
 * | State | `get` |
 * | --- | --- |
 * | read, and young | the last ones |
 * | read, and old | begins a reading. The new ones if it ends within half a second of its start, or else the last ones |
 * | never read, or refused | waits for the reading |
 *
 * A reading that hangs gets another one beside it, at first after `maxAge` or a minute, then after twice the time. One that
 * began before a refusal gets another one at once, and its own result does not count: it may be the refused one. Requests
 * that wait for one reading go on with the first that ends.
 */
export class CredentialCache {
  readonly #options: CredentialCacheOptions;
  #last: Read | undefined;
  /** Milliseconds of the clock at which the last successful or failed reading began. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Reading | undefined;
  /** Whether the last ones were refused, and no others have been read since. */
  #areRefused = false;
  /** Readings that have not ended. */
  readonly #open = new Set<Reading>();
  #refusals = 0;
  readonly #lines: RepeatedLines;

  constructor(options: CredentialCacheOptions) {
    this.#options = options;
    this.#lines = new RepeatedLines(options.clock);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /**
   * The credentials. Rejects with the error of their reading, after which the next call reads again, and with
   * `signal.reason` after an abort.
   */
  async get(signal: AbortSignal = NEVER): Promise<Credentials> {
    const { clock, maxAge } = this.#options;
    const now = clock.monotonic();
    if (this.#last !== undefined && now - this.#readAt < maxAge) return this.#last.credentials;
    const { startedAt, result } = this.#currentReading();
    const rest = this.#last === undefined ? Number.POSITIVE_INFINITY : startedAt + PATIENCE - now;
    using patience = new Deadline(Math.max(rest, 0), { clock, signal, label: "credentials" });
    try {
      return await abortable(() => result, patience.signal);
    } catch (error) {
      if (signal.aborted || !patience.signal.aborted) throw error;
      // They may have been refused meanwhile.
      return this.#last?.credentials ?? (await abortable(() => result, signal));
    }
  }

  /** Reads again at the next call, unless it has happened since `used` was read. */
  forget(used: Credentials): void {
    if (this.#last?.credentials !== used) return;
    this.#last = undefined;
    this.#areRefused = true;
    this.#refusals++;
    this.#reading = undefined;
  }

  #currentReading(): Reading {
    const { clock, maxAge } = this.#options;
    const now = clock.monotonic();
    const current = this.#reading;
    const patience = Math.min(maxAge, MAX_READING) * 2 ** (this.#open.size - 1);
    if (current !== undefined && now - current.startedAt < patience) return current;
    if (current !== undefined) this.#warn(`the reading has not ended after ${patience} ms`);
    return this.#begin(now);
  }

  #begin(startedAt: number): Reading {
    const own = this.#read(startedAt);
    let release = (_credentials: Credentials): void => {};
    const result = new Promise<Credentials>((resolve, reject) => {
      release = resolve;
      own.then(resolve, reject);
    });
    const reading: Reading = { startedAt, result, release };
    this.#reading = reading;
    this.#open.add(reading);
    const end = (): void => {
      this.#open.delete(reading);
      if (this.#reading === reading) this.#reading = undefined;
    };
    own.then((credentials) => {
      end();
      for (const other of this.#open) other.release(credentials);
    }, end);
    // Nobody may wait for it any more.
    result.catch(() => {});
    return reading;
  }

  /** The credentials that were read, or newer ones. The last ones if there is an error. */
  async #read(startedAt: number): Promise<Credentials> {
    const refusals = this.#refusals;
    try {
      const credentials = await this.#options.load(this.#areRefused);
      if (refusals !== this.#refusals) return await this.#newest();
      if (this.#last === undefined || this.#last.startedAt <= startedAt)
        this.#last = { credentials, startedAt };
      this.#areRefused = false;
    } catch (error) {
      if (this.#last === undefined) throw error;
      this.#warn(error instanceof Error ? error.message : typeof error);
    }
    this.#readAt = Math.max(this.#readAt, startedAt);
    return this.#last.credentials;
  }

  /** Credentials that were read after the last refusal. */
  async #newest(): Promise<Credentials> {
    return this.#last?.credentials ?? (await this.#currentReading().result);
  }

  #warn(reason: string): void {
    const details = this.#lines.detailsOf("credentials", reason);
    const message =
      this.#last === undefined
        ? "credentials not read; requests wait for them"
        : "credentials not read; the last ones stay in use";
    if (details !== undefined) warn(this.#options.logger, { reason, ...details }, message);
  }
}
