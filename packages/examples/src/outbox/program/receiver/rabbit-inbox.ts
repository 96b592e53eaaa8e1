import type { Clock } from "@holdfast/clock";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import { z } from "zod";
import type { Queryable } from "../../database/database.ts";
import { ROUTE } from "../order.ts";
import { applyEffect } from "./effects.ts";
import { faultOf } from "./fault.ts";
import type { Inbox } from "./inbox.ts";
import { Ledger } from "./ledger.ts";
import { Standstill } from "./standstill.ts";

const ORDER = z.object({ order: z.int() });

/** What a {@link RabbitInbox} is made of. */
export interface RabbitInboxOptions {
  readonly url: string;
  /** Where the effects of messages are. */
  readonly database: Queryable;
  /** Decides which deliveries are not acknowledged, although the work is done; none if undefined. */
  readonly seed: number | undefined;
  readonly clock: Clock;
}

/**
 * A consumer of a queue of RabbitMQ. A broker confirms what it can keep, so that this one fails in one
 * way only: it does the work and does not acknowledge, and the broker delivers again.
 */
export class RabbitInbox implements Inbox {
  readonly url: string;
  readonly ledger: Ledger;
  readonly #standstill: Standstill;
  readonly #options: RabbitInboxOptions;
  readonly #connection: ChannelModel;
  readonly #channel: Channel;

  private constructor(options: RabbitInboxOptions, connection: ChannelModel, channel: Channel) {
    this.url = options.url;
    const { clock } = options;
    this.#options = options;
    this.#standstill = new Standstill(clock);
    this.ledger = new Ledger({ clock, standstill: this.#standstill });
    this.#connection = connection;
    this.#channel = channel;
  }

  /** Makes the exchange and the queue, and empties it: what is left of another run is nobody's. */
  static async start(options: RabbitInboxOptions): Promise<RabbitInbox> {
    const connection = await connect(options.url);
    const channel = await connection.createChannel();
    await channel.assertExchange(ROUTE.exchange, "direct", { durable: true });
    await channel.assertQueue(ROUTE.queue, { durable: true });
    await channel.bindQueue(ROUTE.queue, ROUTE.exchange, ROUTE.routingKey);
    await channel.purgeQueue(ROUTE.queue);
    await channel.prefetch(1);
    const inbox = new RabbitInbox(options, connection, channel);
    await channel.consume(ROUTE.queue, (message) => void inbox.#receive(message));
    return inbox;
  }

  async isIdle(): Promise<boolean> {
    const { messageCount } = await this.#channel.checkQueue(ROUTE.queue);
    return messageCount === 0 && this.ledger.counts.open === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#channel.deleteQueue(ROUTE.queue);
    await this.#channel.deleteExchange(ROUTE.exchange);
    await this.#connection.close();
    this.#standstill[Symbol.dispose]();
  }

  async #receive(message: ConsumeMessage | null): Promise<void> {
    if (message === null) return;
    const id = `${message.properties.messageId}`;
    // Who has published it, a broker does not say.
    const handling = this.ledger.open({ id, sender: undefined });
    try {
      const { order } = ORDER.parse(JSON.parse(message.content.toString()));
      handling.fault = faultOf(order, handling.attempt, this.#options.seed);
      this.ledger.count(await applyEffect(id, this.#options.database));
      if (handling.fault === "lost reply") this.#channel.nack(message);
      else this.#channel.ack(message);
    } catch {
      this.#channel.nack(message); // The database is away.
    } finally {
      handling.end();
    }
  }
}
