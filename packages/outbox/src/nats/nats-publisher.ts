import { func, type Kinds, positive, read, requireMethods } from "@holdfast/kit";
import { TerminalError } from "@holdfast/wait";
import { type JetStreamApiError, type JetStreamClient, jetstream } from "@nats-io/jetstream";
import {
  headers as emptyHeaders,
  type MsgHdrs,
  type NatsConnection,
} from "@nats-io/transport-node";
import type { Message } from "../message/message.ts";
import { bodyOf } from "../publisher/message-body.ts";
import { Publications } from "../publisher/publications.ts";
import type { Publisher } from "../publisher/publisher.ts";
import { RefusedError } from "../publisher/refused-error.ts";
import { UnconfirmedError } from "../publisher/unconfirmed-error.ts";

export const NATS_PUBLISHER_OPTIONS: Kinds<NatsPublisherOptions> = {
  subject: func,
  timeout: positive,
};

/**
 * Tokens without wildcards and blanks, joined by dots. With a `$` begin the subjects of the server's own API: a message
 * there could delete a stream.
 */
const SUBJECT = /^[^\s.*>$\p{Cc}][^\s.*>\p{Cc}]*(\.[^\s.*>\p{Cc}]+)*$/u;

/** The code of NATS for a request that nobody answers. */
const NO_RESPONDERS = 503;

/** The part of a connection of `@nats-io/transport-node` that is asked for. */
export interface NatsClient {
  /** Sends a message. */
  publish(subject: string, ...rest: never[]): void;
  /** Sends a message, and resolves with the answer. */
  request(subject: string, ...rest: never[]): PromiseLike<unknown>;
}

/** Options for {@link NatsPublisher}. */
export interface NatsPublisherOptions {
  /**
   * Returns the subject of a message, which a stream must have. If it throws, the attempt fails.
   *
   * @defaultValue the topic
   */
  readonly subject?: ((message: Message) => string) | undefined;

  /**
   * The maximum time in milliseconds until the stream has acknowledged a message. Finite, above 0. Below the
   * `publishTimeout` of the relay, so that the error says what was waited for.
   *
   * @defaultValue `5_000`
   */
  readonly timeout?: number | undefined;
}

/**
 * Publishes to a stream of NATS JetStream, as JSON with the headers of the message. `Nats-Msg-Id` is the id of the message:
 * the stream drops a duplicate that comes within its `duplicate_window`, two minutes by default; consumers recognize a later
 * one by it.
 *
 * The connection is yours: its servers, TLS and credentials, and when it closes. It connects again by itself.
 *
 * | Event | `publish` |
 * | --- | --- |
 * | the stream acknowledges, also a duplicate | resolves: the stream has the message |
 * | no stream has the subject, or JetStream is off | rejects with a {@link RefusedError} of code 503 |
 * | the stream refuses: it is full, or the message is larger than it allows | rejects with a {@link RefusedError} of its code |
 * | no acknowledgement within `timeout`, the connection is lost or closed | rejects with an {@link UnconfirmedError}; the message may have arrived |
 * | it is not JSON, its subject is none, has a wildcard or begins with `$`, or it sets a header that begins with `Nats-` | rejects with a `TerminalError`; nothing was sent |
 * | `signal` aborts, or the publisher is disposed | rejects at once; the message may have arrived |
 *
 * While the connection is lost the client keeps messages that are published, and sends them when it is back.
 *
 * @example
 * ```ts no-run
 * import { connect } from "@nats-io/transport-node";
 * import { NatsPublisher } from "@holdfast/outbox/nats";
 *
 * const connection = await connect({ servers: ["nats-1:4222", "nats-2:4222"], maxReconnectAttempts: -1 });
 * await using publisher = new NatsPublisher(connection, { subject: ({ topic }) => `shop.${topic}` });
 * ```
 */
export class NatsPublisher implements Publisher, AsyncDisposable {
  readonly #publications = new Publications();
  readonly #stream: JetStreamClient;
  readonly #subject: (message: Message) => string;
  readonly #timeout: number;

  /**
   * @param connection - of `@nats-io/transport-node`
   * @throws RangeError or TypeError that names the option
   */
  constructor(connection: NatsClient, options: NatsPublisherOptions = {}) {
    requireMethods("connection", connection, ["request", "publish"]);
    const given = read("options", options, "NatsPublisher", NATS_PUBLISHER_OPTIONS);
    const { subject = ({ topic }) => topic, timeout = 5_000 } = given;
    this.#stream = jetstream(connection as NatsConnection);
    this.#subject = subject;
    this.#timeout = timeout;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    await this.#publications.run(() => this.#deliver(message), signal);
  }

  /** Rejects publications that have not ended. The connection stays open: it is yours. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#publications.end();
  }

  async #deliver(message: Message): Promise<void> {
    const body = bodyOf(message);
    const subject = this.#subject(message);
    if (typeof subject !== "string" || !SUBJECT.test(subject))
      throw new TerminalError(
        "message has no valid subject: tokens joined by dots, without blanks and wildcards, not beginning with $",
      );
    const options = { msgID: message.id, headers: headersOf(message), timeout: this.#timeout };
    try {
      await this.#stream.publish(subject, body, options);
    } catch (error) {
      throw failureOf(error as Error, subject);
    }
  }
}

function headersOf(message: Message): MsgHdrs {
  const headers = emptyHeaders();
  headers.set("Content-Type", "application/json");
  for (const [name, value] of Object.entries(message.headers)) {
    const lower = name.toLowerCase();
    if (lower.startsWith("nats-"))
      // It could purge the stream, or take another message for a duplicate.
      throw new TerminalError(`message must not set the header ${lower}`);
    if (lower === "content-type") headers.delete("Content-Type");
    headers.set(name, value);
  }
  return headers;
}

/** By names: an application may have another copy of the client. */
function failureOf(error: Error, subject: string): Error {
  if (error.name === "JetStreamNotEnabled" || error.name === "JetStreamNotEnabledError")
    return new RefusedError(NO_RESPONDERS, {
      reason: `no stream has the subject ${subject}; create one, with JetStream enabled`,
      cause: error,
    });
  if (error.name === "JetStreamApiError")
    return new RefusedError((error as JetStreamApiError).apiError().err_code, { cause: error });
  return new UnconfirmedError(error.message, { cause: error });
}
