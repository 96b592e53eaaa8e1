import { onAbort } from "@holdfast/clock";
import { TerminalError } from "@holdfast/wait";
import { type ChannelModel, type ConfirmChannel, IllegalOperationError } from "amqplib";
import type { Message } from "../message/message.ts";
import { RefusedError } from "../publisher/refused-error.ts";
import { UnconfirmedError } from "../publisher/unconfirmed-error.ts";
import { type Route, UnroutableError } from "./unroutable-error.ts";

/** A message, encoded, and its destination. */
export interface Publication {
  readonly message: Message;
  readonly route: Route;
  /** Whether it comes back if no queue takes it. */
  readonly isMandatory: boolean;
  readonly body: Buffer;
}

const NOT_FOUND = 404;

/** An error that the broker closed a channel with. */
type ChannelError = Error & { readonly code: number };

/** Callbacks of a {@link RabbitChannel}. */
export interface RabbitChannelHooks {
  /** Called when a publication has ended and the channel can take the next. */
  readonly onIdle: (channel: RabbitChannel) => void;
  /** Called once, when the channel has closed for any reason. */
  readonly onClose: (channel: RabbitChannel) => void;
}

/**
 * A channel with confirmations for one message at a time: a channel error, a return and a confirmation
 * concern that message and no other.
 */
export class RabbitChannel {
  readonly #channel: ConfirmChannel;
  readonly #hooks: RabbitChannelHooks;
  #state: "open" | "closing" | "closed" = "open";
  /** Set by the broker before it closes the channel. */
  #error: ChannelError | undefined;
  /** Whether the message in flight came back: the broker returns it before it confirms. */
  #isReturned = false;

  private constructor(channel: ConfirmChannel, hooks: RabbitChannelHooks) {
    this.#channel = channel;
    this.#hooks = hooks;
    channel.on("error", (error) => {
      this.#error = error as ChannelError;
    });
    channel.on("return", () => {
      this.#isReturned = true;
    });
    channel.on("close", () => {
      this.#state = "closed";
      hooks.onClose(this);
    });
  }

  static async open(connection: ChannelModel, hooks: RabbitChannelHooks): Promise<RabbitChannel> {
    return new RabbitChannel(await connection.createConfirmChannel(), hooks);
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /**
   * Publishes, and resolves when the broker has confirmed. Call it on an idle, open channel.
   *
   * @param signal - its abort closes the channel: the confirmation is of no more use
   */
  async publish(publication: Publication, signal: AbortSignal): Promise<void> {
    this.#isReturned = false;
    const confirmed = new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null): void => {
        const failure = this.#failureOf(publication.route, error);
        if (failure === undefined) resolve();
        else reject(failure);
      };
      this.#send(publication, settle);
    });
    const subscription = onAbort(signal, () => this.#close());
    try {
      await confirmed;
    } finally {
      subscription[Symbol.dispose]();
      this.release();
    }
  }

  /** Makes the channel free for another message. */
  release(): void {
    if (this.isOpen) this.#hooks.onIdle(this);
  }

  #send(
    { message, route, isMandatory, body }: Publication,
    settle: (error: Error | null) => void,
  ): void {
    const { id, topic, headers, createdAt } = message;
    const options = {
      mandatory: isMandatory,
      persistent: true,
      contentType: "application/json",
      messageId: id,
      type: topic,
      headers,
      timestamp: Math.floor(createdAt / 1_000),
    };
    try {
      this.#channel.publish(route.exchange, route.routingKey, body, options, settle);
    } catch (error) {
      this.#close();
      if (error instanceof IllegalOperationError)
        throw new UnconfirmedError(error.message, { cause: error });
      throw new TerminalError("message cannot be encoded", { cause: error });
    }
  }

  /** Why the message in flight has failed; undefined if it has not. */
  #failureOf(route: Route, error: Error | null): Error | undefined {
    const channelError = this.#error;
    if (channelError?.code === NOT_FOUND) return new UnroutableError(route, "exchange");
    if (channelError !== undefined)
      return new RefusedError(channelError.code, { cause: channelError });
    if (error !== null) return new UnconfirmedError(error.message, { cause: error });
    return this.#isReturned ? new UnroutableError(route, "queue") : undefined;
  }

  #close(): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    // It fails if the connection has ended, and the channel with it.
    this.#channel.close().catch(() => undefined);
  }
}
