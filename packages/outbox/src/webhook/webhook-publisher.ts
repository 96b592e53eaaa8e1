import { type PassiveClock, realClock } from "@holdfast/clock";
import {
  type OptionNames,
  requireMethods,
  requireOptions,
  requireString,
} from "@holdfast/clock/internal";
import { RetryAfterError, TerminalError } from "@holdfast/controller";
import { parseRetryAfter } from "@holdfast/wait";
import { requireHeaders } from "../message/headers.ts";
import type { Message, MessageHeaders } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";
import { WebhookError } from "./webhook-error.ts";

const OPTIONS: OptionNames<WebhookPublisherOptions> = {
  url: true,
  headers: true,
  clock: true,
};

/** Statuses from 400 to 499 that say "not now" and not "never". */
const NOT_NOW = new Set([408, 425, 429]);

/** The longest reason phrase of a receiver that an error repeats, in characters. */
const LONGEST_REASON = 200;

/** Options for {@link WebhookPublisher}. */
export interface WebhookPublisherOptions {
  /**
   * The http or https URL to post to, or a function that returns that of a message. Errors do not repeat its
   * query. A user and a password belong in `headers`.
   */
  readonly url: string | ((message: Message) => string);

  /**
   * Headers of every request, to authenticate for example. Names and values as HTTP allows them. Each name
   * once, in upper or lower case. They replace those of a message. `Content-Type` replaces
   * `application/json`. `Idempotency-Key` is always the id of the message, and cannot be replaced.
   *
   * @defaultValue none
   */
  readonly headers?: MessageHeaders | undefined;

  /**
   * Reads the time that a date in `Retry-After` is compared with.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;
}

/**
 * Posts messages as JSON, with their headers. The header `Idempotency-Key` holds the id of the message: the
 * receiver recognizes a duplicate by it.
 *
 * | The receiver responds | `publish` |
 * | --- | --- |
 * | 200 to 299 | resolves: this confirms the message |
 * | 429 or 503 with `Retry-After` | rejects with a `RetryAfterError` |
 * | 408, 425, 429 or 500 to 599 | rejects with a {@link WebhookError} |
 * | any other 400 to 499 | rejects with a `TerminalError`: the same message would fail again |
 * | a redirection | rejects with a {@link WebhookError}: to follow it could turn the POST into a GET |
 * | nothing, or resets the connection | rejects with a {@link WebhookError}; the message may have arrived |
 *
 * When `signal` aborts, `publish` rejects at once with `signal.reason`; when the publisher is disposed,
 * with an error that names the reason. The message may have arrived. A message that is not JSON rejects with a
 * `TerminalError`. The time a response may take is limited by the signal alone.
 *
 * @example
 * ```ts no-run
 * import { WebhookPublisher } from "@holdfast/outbox/webhook";
 *
 * await using publisher = new WebhookPublisher({
 *   url: "https://receiver.example/hooks",
 *   headers: { Authorization: `Bearer ${process.env["TOKEN"]}` },
 * });
 * ```
 */
export class WebhookPublisher implements Publisher, AsyncDisposable {
  readonly #urlOf: (message: Message) => URL;
  readonly #headers: MessageHeaders;
  readonly #clock: PassiveClock;
  readonly #publications = new Publications();

  /** @throws RangeError or TypeError that names the option, and repeats no part of it */
  constructor(options: WebhookPublisherOptions) {
    requireOptions("options", options, "WebhookPublisher", OPTIONS);
    const { url, headers = {}, clock = realClock } = options;
    this.#urlOf = urlOf(url);
    this.#headers = requireHeaders("options.headers", headers);
    requireMethods("options.clock", clock, ["now"]);
    this.#clock = clock;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run(async (own) => {
      const url = this.#urlOf(message);
      this.#judge(url, await this.#post(url, message, own));
    }, signal);
  }

  /** Ends requests that have no response. `fetch` closes idle connections of its pool by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
  }

  async #post(url: URL, message: Message, signal: AbortSignal): Promise<Response> {
    const headers = this.#headersOf(message);
    const body = bodyOf(message);
    try {
      const request = { method: "POST", headers, body, signal, redirect: "manual" } as const;
      const response = await fetch(url, request);
      // Only the status matters, and an unread body would keep the connection busy.
      void response.body?.cancel().catch(() => undefined);
      return response;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new WebhookError(`${describe(url)}: ${reasonOf(error)}`, { cause: error });
    }
  }

  #judge(url: URL, { ok, status, statusText, headers }: Response): void {
    if (ok) return;
    const said = `${status} ${statusText.slice(0, LONGEST_REASON)}`.trimEnd();
    const error = new WebhookError(`${describe(url)}: ${said}`, { status });
    if (status === 429 || status === 503) {
      const delay = parseRetryAfter(headers.get("retry-after"), this.#clock);
      if (delay !== undefined) throw new RetryAfterError(delay, { cause: error });
    }
    if (status >= 400 && status < 500 && !NOT_NOW.has(status))
      throw new TerminalError(error.message, { cause: error });
    throw error;
  }

  #headersOf(message: Message): Headers {
    const headers = new Headers({ "content-type": "application/json" });
    for (const [name, value] of Object.entries(message.headers)) headers.set(name, value);
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value);
    headers.set("idempotency-key", message.id);
    return headers;
  }
}

function urlOf(url: WebhookPublisherOptions["url"]): (message: Message) => URL {
  if (typeof url === "function")
    return (message) => {
      try {
        return requireUrl("url(message)", url(message));
      } catch (error) {
        throw new TerminalError("message has no URL", { cause: error });
      }
    };
  const fixed = requireUrl("options.url", url);
  return () => fixed;
}

/** Errors do not repeat it: it may contain a secret. */
function requireUrl(name: string, text: string): URL {
  requireString(name, text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new RangeError(`${name} must be an http or https URL without a user and a password`);
  return url;
}

/** A request in words, without the query: errors are kept and logged. */
function describe({ origin, pathname }: URL): string {
  return `POST ${origin}${pathname}`;
}

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  const { message, code } = cause as NodeJS.ErrnoException;
  return message || code || `${cause}`;
}
