import { randomUUID } from "node:crypto";
import type { Message } from "@holdfast/outbox";
import type { Route } from "@holdfast/outbox/rabbitmq";
import { type Channel, connect } from "amqplib";
import { sampleMessage } from "../sample-message.ts";

/** What a consumer sees of a message. */
export interface Received {
  readonly id: unknown;
  readonly payload: unknown;
  readonly isPersistent: boolean;
}

/** A topic that names a route, for {@link routeOf}. */
export function topicOf(route: Route): string {
  return JSON.stringify([route.exchange, route.routingKey]);
}

/** The option `route` of publishers whose messages go to {@link topicOf | topics of routes}. */
export function routeOf({ topic }: Pick<Message, "topic">): Route {
  const [exchange, routingKey] = JSON.parse(topic);
  return { exchange, routingKey };
}

/** So many messages for a route. */
export function messagesFor(route: Route, count: number): readonly Message[] {
  return Array.from({ length: count }, (_, order) =>
    sampleMessage({ topic: topicOf(route), payload: { order } }),
  );
}

export function idsOf(all: readonly { readonly id: unknown }[]): unknown[] {
  return all.map(({ id }) => id);
}

/** A durable queue bound to an exchange of its own, until it is disposed. */
export class TestQueue {
  readonly name: string;
  readonly route: Route;
  readonly #url: string;

  private constructor(url: string, name: string) {
    this.#url = url;
    this.name = name;
    this.route = { exchange: name, routingKey: "key" };
  }

  static async make(
    url: string,
    queueArguments: Record<string, unknown> = {},
    unique = `test-${randomUUID()}`,
  ): Promise<TestQueue> {
    const queue = new TestQueue(url, unique);
    const { exchange, routingKey } = queue.route;
    const { name } = queue;
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
        const message = await channel.get(this.name, { noAck: true });
        if (message === false) return received;
        const { messageId: id, deliveryMode } = message.properties;
        const payload: unknown = JSON.parse(message.content.toString());
        received.push({ id, payload, isPersistent: deliveryMode === 2 });
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#use(async (channel) => {
      await channel.deleteQueue(this.name);
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
