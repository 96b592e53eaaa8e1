import { type Clock, onAbort } from "@holdfast/clock";
import { type ChannelModel, type ConfirmChannel, connect, type SocketOptions } from "amqplib";
import type { Message, ResolvedRoute } from "../message/message.ts";
import { UnconfirmedError } from "./unconfirmed-error.ts";
import { UnroutableError } from "./unroutable-error.ts";

/** Tells one publication from another of the same message. */
const TICKET = "x-outbox-ticket";

const NOT_FOUND = 404;

/** How long the other side may take to answer a farewell, in milliseconds. */
const FAREWELL = 2_000;

/** What {@link RabbitSession.open} needs. */
export interface OpenRabbitSession {
  readonly url: string;
  readonly clock: Clock;
  /** Ends an attempt that has not succeeded yet. */
  readonly signal: AbortSignal;
}

/** The parts of a session. */
interface RabbitSessionParts {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  /** Its abort destroys the socket. */
  readonly socket: AbortController;
  readonly clock: Clock;
}

/** One connection to a broker with one channel that confirms, for as long as both last. */
export class RabbitSession {
  /** Resolves when the connection or its channel has ended: to why, or to undefined after a close. */
  readonly ended: Promise<Error | undefined>;
  readonly #parts: RabbitSessionParts;
  /** Those that are known to exist. */
  readonly #exchanges = new Set([""]);
  /** The tickets of what came back and is not confirmed yet. */
  readonly #returned = new Set<unknown>();
  #tickets = 0;

  private constructor(parts: RabbitSessionParts) {
    const { connection, channel } = parts;
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      for (const part of [channel, connection]) part.on("error", resolve);
      // The connection knows why it closes, its channels do not: they close a moment earlier.
      connection.on("close", resolve);
      channel.on("close", () => queueMicrotask(() => resolve(undefined)));
    });
    channel.on("return", ({ properties }) => this.#returned.add(properties.headers?.[TICKET]));
  }

  /** Connects. */
  static async open({ url, clock, signal }: OpenRabbitSession): Promise<RabbitSession> {
    const socket = new AbortController();
    const subscription = onAbort(signal, (reason) => socket.abort(reason));
    try {
      const connection = await connect(url, { signal: socket.signal } as SocketOptions);
      // Without a listener, a connection that is lost right now would end the process.
      connection.on("error", () => undefined);
      const channel = await connection.createConfirmChannel();
      return new RabbitSession({ connection, channel, socket, clock });
    } catch (error) {
      socket.abort(error);
      throw error;
    } finally {
      subscription[Symbol.dispose]();
    }
  }

  /**
   * Publishes, and resolves when the broker has confirmed.
   *
   * A broker ends the channel of who publishes to an exchange that does not exist, and with it what
   * others have under way there. So each exchange is asked for once, beside it.
   */
  async publish(message: Message): Promise<void> {
    await this.#requireExchange(message.route);
    const ticket = ++this.#tickets;
    await new Promise<void>((resolve, reject) => {
      const { id, route, content, createTime } = message;
      const body = Buffer.from(JSON.stringify(content));
      const options = {
        mandatory: true,
        persistent: true,
        contentType: "application/json",
        messageId: id,
        timestamp: Math.floor(createTime / 1_000),
        headers: { [TICKET]: ticket },
      };
      this.#parts.channel.publish(route.exchange, route.routingKey, body, options, (error) => {
        // What comes back does so before its confirmation, which only says that it was dealt with.
        const isReturned = this.#returned.delete(ticket);
        if (error) reject(new UnconfirmedError(error.message, { cause: error }));
        else if (isReturned) reject(new UnroutableError(route, "queue"));
        else resolve();
      });
    });
  }

  /** Closes the connection, in good order if the other side still answers. */
  async close(): Promise<void> {
    const { connection, socket, clock } = this.#parts;
    await new Promise<void>((resolve) => {
      const timer = clock.afterFunc(FAREWELL, resolve, { label: "farewell to the broker" });
      const done = (): void => {
        timer.stop();
        resolve();
      };
      connection.close().then(done, done);
    });
    socket.abort();
  }

  async #requireExchange(route: ResolvedRoute): Promise<void> {
    if (this.#exchanges.has(route.exchange)) return;
    const probe = await this.#parts.connection.createChannel();
    probe.on("error", () => undefined);
    try {
      await probe.checkExchange(route.exchange);
    } catch (error) {
      if ((error as { code?: unknown }).code === NOT_FOUND)
        throw new UnroutableError(route, "exchange");
      throw error;
    }
    this.#exchanges.add(route.exchange);
    await probe.close();
  }
}
