import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import { z } from "zod";
import { faultOf } from "./fault.ts";
import type { Inbox } from "./inbox.ts";
import { Ledger } from "./ledger.ts";
import type { ReceiverOptions } from "./receiver.ts";
import { Standstill } from "./standstill.ts";

/** The exchange of the orders, and the key of its queue. */
export const ROUTE = { exchange: "demo", routingKey: "placed" } as const;

const QUEUE = "demo-orders";

const ORDER = z.object({ order: z.int() });

/** Options for {@link RabbitInbox}. The seed decides which deliveries are not acknowledged. */
export interface RabbitInboxOptions extends ReceiverOptions {
  readonly url: string;
}

interface Connected {
  readonly connection: ChannelModel;
  readonly channel: Channel;
}

/**
 * A consumer of a RabbitMQ queue. The broker confirms stored messages, so this receiver has one fault only: it
 * does the work without an acknowledgement, and the broker delivers again.
 */
export class RabbitInbox implements Inbox {
  readonly name = "broker";
  readonly ledger: Ledger;
  readonly #standstill: Standstill;
  readonly #options: RabbitInboxOptions;
  readonly #connection: ChannelModel;
  readonly #channel: Channel;
  #seed: number | undefined;

  private constructor(options: RabbitInboxOptions, { connection, channel }: Connected) {
    this.#seed = options.seed;
    const { clock } = options;
    this.#options = options;
    this.#standstill = new Standstill(clock);
    this.ledger = new Ledger({ clock, standstill: this.#standstill });
    this.#connection = connection;
    this.#channel = channel;
  }

  /** Creates the exchange and the queue, and removes messages of earlier runs. */
  static async start(options: RabbitInboxOptions): Promise<RabbitInbox> {
    const connection = await connect(options.url);
    const channel = await connection.createChannel();
    await channel.assertExchange(ROUTE.exchange, "direct", { durable: true });
    await channel.assertQueue(QUEUE, { durable: true });
    await channel.bindQueue(QUEUE, ROUTE.exchange, ROUTE.routingKey);
    await channel.purgeQueue(QUEUE);
    await channel.prefetch(1);
    const inbox = new RabbitInbox(options, { connection, channel });
    await channel.consume(QUEUE, (message) => void inbox.#receive(message));
    return inbox;
  }

  get url(): string {
    return this.#options.url;
  }

  repair(): void {
    this.#seed = undefined;
  }

  async isIdle(): Promise<boolean> {
    const { messageCount } = await this.#channel.checkQueue(QUEUE);
    return messageCount === 0 && this.ledger.counts.open === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#channel.deleteQueue(QUEUE);
    await this.#channel.deleteExchange(ROUTE.exchange);
    await this.#connection.close();
    this.#standstill[Symbol.dispose]();
  }

  async #receive(message: ConsumeMessage | null): Promise<void> {
    if (message === null) return;
    const id = `${message.properties.messageId}`;
    // A broker does not name the sender.
    const handling = this.ledger.open({ id, sender: undefined });
    try {
      const { order } = ORDER.parse(JSON.parse(message.content.toString()));
      handling.fault = faultOf(order, handling.attempt, this.#seed);
      this.ledger.count(await this.#options.apply(id));
      if (handling.fault === "lost reply") this.#channel.nack(message);
      else this.#channel.ack(message);
    } catch {
      this.#channel.nack(message); // The database is unreachable.
    } finally {
      handling.end();
    }
  }
}
