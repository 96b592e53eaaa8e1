import { randomUUID } from "node:crypto";
import { type Channel, connect } from "amqplib";
import type { ResolvedRoute } from "../../src/message/message.ts";

/** What a consumer sees of a message. */
export interface Received {
  readonly id: unknown;
  readonly content: unknown;
  readonly isPersistent: boolean;
}

/** A durable queue bound to an exchange of its own, until it is disposed. */
export class TestQueue {
  readonly route: ResolvedRoute;
  readonly #url: string;

  private constructor(url: string, name: string) {
    this.#url = url;
    this.route = { exchange: name, exchangeType: "direct", queue: name, routingKey: "key" };
  }

  static async make(url: string, queueArguments: Record<string, unknown> = {}): Promise<TestQueue> {
    const queue = new TestQueue(url, `test-${randomUUID()}`);
    const { exchange, queue: name, routingKey } = queue.route;
    await queue.#use(async (channel) => {
      await channel.assertExchange(exchange, "direct", { durable: true });
      await channel.assertQueue(name, { durable: true, arguments: queueArguments });
      await channel.bindQueue(name, exchange, routingKey);
    });
    return queue;
  }

  /** Takes everything that is there now. */
  async take(): Promise<readonly Received[]> {
    return await this.#use(async (channel) => {
      const received: Received[] = [];
      for (;;) {
        const message = await channel.get(this.route.queue, { noAck: true });
        if (message === false) return received;
        const { messageId: id, deliveryMode } = message.properties;
        const content: unknown = JSON.parse(message.content.toString());
        received.push({ id, content, isPersistent: deliveryMode === 2 });
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#use(async (channel) => {
      await channel.deleteQueue(this.route.queue);
      await channel.deleteExchange(this.route.exchange);
    });
  }

  /** A connection each time: the broker may have been restarted since. */
  async #use<Value>(work: (channel: Channel) => Promise<Value>): Promise<Value> {
    const connection = await connect(this.#url);
    try {
      return await work(await connection.createChannel());
    } finally {
      await connection.close();
    }
  }
}
