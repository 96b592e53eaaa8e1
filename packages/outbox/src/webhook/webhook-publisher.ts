import { request as httpRequest, type IncomingMessage, STATUS_CODES } from "node:http";
import { request as httpsRequest } from "node:https";
import { onAbort, type PassiveClock, realClock } from "@holdfast/clock";
import { RetryAfterError, TerminalError } from "@holdfast/controller";
import {
  func,
  type Kinds,
  methods,
  parsed,
  read,
  requireAnswer,
  required,
  requireString,
  Secrets,
} from "@holdfast/kit";
import { parseRetryAfter } from "@holdfast/wait/limit";
import { requireHeaders } from "../message/headers.ts";
import type { Message, MessageHeaders } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";
import { Connections } from "./connections.ts";
import { isPrivateAddress, isPrivateAddressError, publicLookup } from "./public-address.ts";
import { keysOf, signedHeaders, type WebhookSecrets } from "./signature.ts";
import { WebhookError } from "./webhook-error.ts";

export const WEBHOOK_PUBLISHER_OPTIONS: Kinds<WebhookPublisherOptions> = {
  url: required(parsed("httpUrl")),
  headers: parsed("headers"),
  secrets: parsed("secrets"),
  allow: func,
  isTerminal: func,
  describe: func,
  clock: methods("now"),
};

/** Statuses from 400 to 499 that say "not now" and not "never". */
const NOT_NOW = new Set([408, 425, 429]);

/**
 * Headers that only the program sets: a message may come from a stranger. Those after the first four frame a request or
 * are of the connection: with a wrong length, the rest of a body would be the next request.
 */
const NOT_OF_A_MESSAGE = new Set([
  ...["authorization", "cookie", "host", "proxy-authorization"],
  ...["content-length", "transfer-encoding", "te", "trailer", "expect"],
  ...["connection", "proxy-connection", "keep-alive", "upgrade", "http2-settings"],
]);

/** A response is read up to here, in bytes and in milliseconds, to use its connection again. */
const DRAIN = { bytes: 1_048_576, time: 5_000 };

/** A request, for the functions of {@link WebhookPublisherOptions}. */
export interface WebhookRequest {
  /** Target of the message. */
  readonly url: URL;
  /** Aborts with the attempt. Pass it on, to a request for a token for example. */
  readonly signal: AbortSignal;
}

/** Options for {@link WebhookPublisher}. */
export interface WebhookPublisherOptions {
  /**
   * The http or https URL to post to, or a function that returns that of a message. A user and a password belong in
   * `headers`.
   *
   * A function may return a URL that a stranger wrote into a message. Its host must resolve to public addresses only,
   * unless `allow` says otherwise, and the connection uses the address that was checked.
   */
  readonly url: string | ((message: Message) => string);

  /**
   * Headers of every request, to authenticate for example, or a function of the message and its body, for a token that
   * expires, or a signature of another scheme than that of `secrets`. Names and values as HTTP allows them. Each name once, in upper or lower case. They replace
   * those of a message. `Content-Type` replaces `application/json`. `Idempotency-Key` is always the id of the
   * message, and cannot be replaced.
   *
   * If `url` is a function, `headers` must be one too: an object would go to every host that a message names. An error of
   * the function fails the attempt.
   *
   * @defaultValue none
   */
  readonly headers?:
    | MessageHeaders
    | ((
        message: Message,
        body: string,
        request: WebhookRequest,
      ) => MessageHeaders | PromiseLike<MessageHeaders>)
    | undefined;

  /**
   * Secrets to sign each request with, as [Standard Webhooks](https://www.standardwebhooks.com) has it, or a function that
   * returns those of a message. Each is `whsec_` and the base64 of 24 to 64 random bytes. Several sign while one replaces
   * another: a receiver that knows one of them is content. The headers `webhook-id`, the id of the message,
   * `webhook-timestamp` and `webhook-signature` are then set, and cannot be replaced. {@link WebhookVerifier} checks them.
   *
   * If `url` is a function, `secrets` must be one too: every host that a message names could pass its requests on to
   * the others. An error of the function fails the attempt.
   *
   * @defaultValue none: requests are not signed
   */
  readonly secrets?:
    | WebhookSecrets
    | ((message: Message, request: WebhookRequest) => WebhookSecrets | PromiseLike<WebhookSecrets>)
    | undefined;

  /**
   * Whether a URL that `url(message)` returned may lead to an address that is not public: loopback, link-local, private
   * or reserved. Called for every message. A fixed `url` needs no permission.
   *
   * @defaultValue none may
   */
  readonly allow?: ((url: URL) => boolean) | undefined;

  /**
   * Whether a status means that the same message would fail again: the message becomes a dead letter. Called for statuses
   * below 200 and from 300 on.
   *
   * @defaultValue 400 to 499, without 408, 425 and 429
   */
  readonly isTerminal?: ((status: number, message: Message) => boolean) | undefined;

  /**
   * Text of a URL in errors, which are stored and logged. The path of a URL is a secret with many receivers.
   *
   * @defaultValue the origin, such as `https://receiver.example`
   */
  readonly describe?: ((url: URL) => string) | undefined;

  /**
   * Reads the time that a date in `Retry-After` is compared with, and that a signature has.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;
}

/**
 * Posts messages as JSON, with their headers. The header `Idempotency-Key` holds the id of the message: the
 * receiver recognizes a duplicate by it. With `secrets`, each request is signed.
 *
 * | The receiver responds | `publish` |
 * | --- | --- |
 * | 200 to 299 | resolves: this confirms the message |
 * | 429 or 503 with `Retry-After` | rejects with a `RetryAfterError` |
 * | a status for which `isTerminal` returns true, by default most of 400 to 499 | rejects with a `TerminalError`: the same message would fail again |
 * | any other status | rejects with a {@link WebhookError}. A redirection is not followed: that could turn the POST into a GET |
 * | nothing, or resets the connection | rejects with a {@link WebhookError}; the message may have arrived |
 * | nothing or 408, on a connection that was idle before | is asked once more, on a fresh connection: it may get the message twice, with the same `Idempotency-Key` |
 *
 * When `signal` aborts, `publish` rejects at once with `signal.reason`; when the publisher is disposed,
 * with an error that names the reason. The message may have arrived. The time a response may take is limited by the
 * signal alone.
 *
 * A message rejects with a `TerminalError` if it is not JSON, has no valid URL, leads to an address that is not public
 * without permission, or sets `Authorization`, `Cookie`, `Host`, `Proxy-Authorization`, or a header of the connection or
 * of its framing, such as `Content-Length` or `Upgrade`.
 *
 * Connections are kept and used again: each for 4 s without a request, or for less if the response has said so in
 * `Keep-Alive`; 100 at most. The body of a response is read up to 1 MiB for at most 5 s, and ignored.
 *
 * @example
 * ```ts no-run
 * import { WebhookPublisher } from "@holdfast/outbox/webhook";
 *
 * await using publisher = new WebhookPublisher({
 *   url: "https://receiver.example/hooks",
 *   headers: { Authorization: `Bearer ${process.env["TOKEN"]}` },
 *   secrets: (process.env["WEBHOOK_SECRETS"] ?? "").split(" "), // the new one and the old one
 * });
 * ```
 */
export class WebhookPublisher implements Publisher, AsyncDisposable {
  readonly #options: ReturnType<typeof resolve>;
  readonly #publications = new Publications();
  readonly #connections = new Connections();

  /** @throws RangeError or TypeError that names the option, and repeats no part of it */
  constructor(options: WebhookPublisherOptions) {
    this.#options = resolve(options);
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run(async (own) => {
      const body = bodyOf(message);
      const url = this.#urlOf(message);
      const isTrusted =
        typeof this.#options.url !== "function" ||
        requireAnswer("options.allow(url)", this.#options.allow(url));
      if (!isTrusted && isPrivateAddress(url.hostname)) throw this.#refused(url);
      const headers = await this.#headersOf(message, body, { url, signal: own });
      own.throwIfAborted();
      this.#judge(message, url, await this.#post({ url, headers, body, isTrusted }, own));
    }, signal);
  }

  /** Ends requests that have no response, and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
    this.#connections.end();
  }

  #urlOf(message: Message): URL {
    const { url } = this.#options;
    if (typeof url !== "function") return url;
    try {
      return requireUrl("url(message)", url(message));
    } catch (error) {
      throw new TerminalError("message has no URL", { cause: error });
    }
  }

  async #headersOf(
    message: Message,
    body: string,
    request: WebhookRequest,
  ): Promise<Record<string, string>> {
    const { headers, secrets, clock } = this.#options;
    const own =
      typeof headers === "function"
        ? requireHeaders("headers(message)", await headers(message, body, request))
        : headers;
    const all = new Map([["content-type", "application/json"]]);
    for (const [name, value] of Object.entries(message.headers)) {
      const lower = name.toLowerCase();
      if (NOT_OF_A_MESSAGE.has(lower))
        throw new TerminalError(`message must not set the header ${lower}`);
      all.set(lower, value);
    }
    for (const [name, value] of Object.entries(own)) all.set(name.toLowerCase(), value);
    all.set("idempotency-key", message.id);
    if (secrets === undefined) return Object.fromEntries(all);
    const keys =
      typeof secrets === "function"
        ? keysOf("secrets(message)", await secrets(message, request))
        : secrets;
    const signed = signedHeaders({ id: message.id, body }, keys, clock.now());
    for (const [name, value] of Object.entries(signed)) all.set(name, value);
    return Object.fromEntries(all);
  }

  async #post(post: Post, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await this.#send(post, post.isTrusted ? "trusted" : "guarded", signal).catch(
        async (error: unknown) => {
          if (signal.aborted || !(error instanceof StaleConnection)) throw error;
          return await this.#send(post, "fresh", signal);
        },
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#failed(post, error as NodeJS.ErrnoException);
    }
  }

  /** @throws StaleConnection if a kept connection breaks without a byte of the response, or its time was up */
  #send(
    { url, headers, body, isTrusted }: Post,
    kind: "trusted" | "guarded" | "fresh",
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const agent = this.#connections.agentOf(url, kind);
    const lookup = isTrusted ? {} : { lookup: publicLookup };
    const options = { method: "POST", headers, agent, ...lookup };
    return new Promise((resolve, reject) => {
      const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options);
      let bytesBefore: number | undefined;
      const link = onAbort(signal, (reason) => {
        request.destroy();
        reject(reason);
      });
      request.once("socket", ({ bytesRead }) => {
        bytesBefore = bytesRead;
      });
      request.once("response", (response) => {
        link[Symbol.dispose]();
        this.#connections.learn(response);
        drain(response);
        if (request.reusedSocket && response.statusCode === TIMED_OUT)
          reject(new StaleConnection("the receiver had given the connection up"));
        else resolve(response);
      });
      request.on("error", (error) => {
        link[Symbol.dispose]();
        const isStale = request.reusedSocket && request.socket?.bytesRead === bytesBefore;
        reject(isStale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      // Bytes: Node would write the headers in the encoding of a text.
      request.end(Buffer.from(body, "utf8"));
    });
  }

  #judge(message: Message, url: URL, { statusCode = 0, headers }: IncomingMessage): void {
    if (statusCode >= 200 && statusCode < 300) return;
    const { clock, isTerminal } = this.#options;
    // The server's own phrase may repeat what it was sent.
    const text = `${statusCode} ${STATUS_CODES[statusCode] ?? ""}`.trimEnd();
    const error = new WebhookError(`${this.#describe(url)}: ${text}`, { status: statusCode });
    if (statusCode === 429 || statusCode === 503) {
      const delay = parseRetryAfter(headers["retry-after"], clock, headers.date);
      if (delay !== undefined) throw new RetryAfterError(delay, { cause: error });
    }
    if (requireAnswer("options.isTerminal(status, message)", isTerminal(statusCode, message)))
      throw new TerminalError(error.message, { cause: error });
    throw error;
  }

  /** An error without the bytes of a response, which Node keeps for a parse error, and without what was sent. */
  #failed({ url, headers }: Post, error: NodeJS.ErrnoException): Error {
    if (isPrivateAddressError(error)) return this.#refused(url);
    const { code, message } = error;
    const secrets = new Secrets({ url, headers: Object.entries(headers) });
    const text = secrets.hide(message || String(code));
    const cause = Object.assign(new Error(text), code !== undefined && { code });
    return new WebhookError(`${this.#describe(url)}: ${cause.message}`, { cause });
  }

  #refused(url: URL): TerminalError {
    return new TerminalError(
      `${this.#describe(url)}: its address is not public; options.allow can permit it`,
    );
  }

  #describe(url: URL): string {
    return `POST ${this.#options.describe(url)}`;
  }
}

interface Post {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly isTrusted: boolean;
}

/** A proxy says so on a connection that has been idle, perhaps while a request is on its way. */
const TIMED_OUT = 408;

/** The connection was idle before the request. Whether its receiver has read the request is unknown. */
class StaleConnection extends Error {}

/** Reads the rest of a response, so that its connection serves the next message; cuts it if that takes too much. */
function drain(response: IncomingMessage): void {
  let bytes = 0;
  const cut = (): void => void response.destroy();
  const timer = realClock.afterFunc(DRAIN.time, cut, { ref: false });
  response.on("data", ({ length }: Buffer) => {
    bytes += length;
    if (bytes > DRAIN.bytes) cut();
  });
  response.once("close", () => timer.stop());
  response.on("error", () => undefined);
}

function resolve(options: WebhookPublisherOptions) {
  const given = read("options", options, "WebhookPublisher", WEBHOOK_PUBLISHER_OPTIONS);
  const { url, allow = () => false, clock = realClock } = given;
  const { isTerminal = isRefusal, describe = ({ origin }: URL) => origin } = given;
  return {
    url: typeof url === "function" ? url : requireUrl("options.url", url),
    headers: headersOf(given),
    secrets: secretsOf(given),
    allow,
    isTerminal,
    describe,
    clock,
  };
}

function headersOf({ url, headers }: WebhookPublisherOptions) {
  if (headers === undefined) return {};
  if (typeof headers === "function") return headers;
  if (typeof url !== "function") return requireHeaders("options.headers", headers);
  throw new TypeError(
    "options.headers must be a function if options.url is one: an object would go to every host that a message names",
  );
}

function secretsOf({ url, secrets }: WebhookPublisherOptions) {
  if (secrets === undefined || typeof secrets === "function") return secrets;
  if (typeof url !== "function") return keysOf("options.secrets", secrets);
  throw new TypeError(
    "options.secrets must be a function if options.url is one: each host that a message names could pass its requests on to the others",
  );
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !NOT_NOW.has(status);
}

/** Errors do not repeat it: it may contain a secret. */
function requireUrl(name: string, text: string): URL {
  requireString(name, text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new RangeError(`${name} must be an http or https URL without a user and a password`);
  return url;
}
