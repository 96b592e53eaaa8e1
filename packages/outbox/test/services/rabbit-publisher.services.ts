import { setImmediate } from "node:timers/promises";
import { realClock } from "@holdfast/clock";
import type { Message } from "@holdfast/outbox";
import { isUnconfirmedError, isUnroutableError, RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { isTerminalError, retry } from "@holdfast/wait";
import { connect } from "amqplib";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import { testPublisher } from "../publisher.contract.ts";
import { sampleMessage } from "../sample-message.ts";
import { idsOf, messagesFor, type Received, routeOf, TestQueue, topicOf } from "./test-queue.ts";

const url = requiredUrl("AMQP_URL");
const { signal } = new AbortController();
const backoff = { duration: 50, cap: 500, factor: 2 };

/** As a relay does it, but for the schedule: what failed is published again until it is confirmed. */
async function deliver(publisher: RabbitPublisher, messages: readonly Message[]): Promise<number> {
  let failures = 0;
  const one = (message: Message): Promise<void> =>
    retry(({ signal: own }) => publisher.publish(message, own), {
      retries: Number.POSITIVE_INFINITY,
      backoff,
      attemptTimeout: 5_000,
      onRetry: () => failures++,
    });
  await Promise.all(messages.map(one));
  return failures;
}

testPublisher("RabbitPublisher", async () => {
  const queue = await TestQueue.make(url);
  const proxy = await TcpProxy.to(url);
  const publisher = new RabbitPublisher({ route: routeOf, url: proxy.url });
  const delivered: Received[] = [];
  return {
    publisher,
    topic: topicOf(queue.route),
    refused: topicOf({ ...queue.route, exchange: `${queue.route.exchange}-missing` }),
    deliveries: async () => {
      delivered.push(...(await queue.take()));
      return delivered.map(({ id, payload }) => ({ id, payload }));
    },
    hang: () => {
      proxy.deaf = true;
    },
    [Symbol.asyncDispose]: async () => {
      await publisher[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
    },
  };
});

describe("RabbitPublisher", () => {
  it("resolves when the broker has the persistent message with its id", async () => {
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const message = sampleMessage({ topic: topicOf(queue.route) });
    await publisher.publish(message, signal);
    const { id, payload } = message;
    expect(await queue.take()).toEqual([{ id, payload, isPersistent: true }]);
  });

  it("publishes to the default exchange by the name of the queue", async () => {
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const route = { exchange: "", routingKey: queue.name };
    const message = sampleMessage({ topic: topicOf(route) });
    await publisher.publish(message, signal);
    expect(idsOf(await queue.take())).toEqual([message.id]);
  });

  it("rejects messages without a bound queue, each of two with the same id, and no others", async () => {
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const [good, bad] = [sampleMessage({ topic: topicOf(queue.route) }), sampleMessage()];
    const lost = { ...bad, topic: topicOf({ ...queue.route, routingKey: "nobody" }) };
    const outcomes = await Promise.all([
      errorOf(publisher.publish(lost, signal)),
      errorOf(publisher.publish(lost, signal)),
      errorOf(publisher.publish(good, signal)),
      errorOf(publisher.publish(lost, signal)),
    ]);
    expect(outcomes.map(isUnroutableError)).toEqual([true, true, false, true]);
    expect(outcomes[2]).toBeUndefined();
    expect(idsOf(await queue.take())).toEqual([good.id]);
  });

  it("rejects messages for a missing exchange, and none in flight", async () => {
    await using queue = await TestQueue.make(url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url,
      onError: (error) => losses.push(error),
    });
    const messages = messagesFor(queue.route, 50);
    const nowhere = sampleMessage({
      topic: topicOf({ ...queue.route, exchange: `${queue.name}-x` }),
    });
    const [error] = await Promise.all([
      errorOf(publisher.publish(nowhere, signal)),
      ...messages.map((message) => publisher.publish(message, signal)),
    ]);
    expect(error).toSatisfy(isUnroutableError);
    expect(error).toMatchObject({ message: `exchange "${queue.name}-x" does not exist` });
    expect(losses).toEqual([]);
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(messages).toSorted());
  });

  it("rejects messages for a deleted exchange, and none in flight", async () => {
    await using queue = await TestQueue.make(url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url,
      onError: (error) => losses.push(error),
    });
    const messages = messagesFor(queue.route, 50);
    let deleted: Message;
    {
      await using other = await TestQueue.make(url);
      deleted = sampleMessage({ topic: topicOf(other.route) });
      await publisher.publish(deleted, signal);
    }
    const [error] = await Promise.all([
      errorOf(publisher.publish(deleted, signal)),
      ...messages.map((message) => publisher.publish(message, signal)),
    ]);
    expect(error).toSatisfy(isUnroutableError);
    expect(losses).toEqual([]);
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(messages).toSorted());
  });

  it("rejects unencodable messages every time, and sends nothing", async () => {
    await using queue = await TestQueue.make(url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url,
      onError: (error) => losses.push(error),
    });
    const route = { ...queue.route, exchange: "x".repeat(256) };
    for (let round = 0; round < 21; round++) {
      const bad = Array.from({ length: 100 }, () => sampleMessage({ topic: topicOf(route) }));
      for (const error of await Promise.all(
        bad.map((message) => errorOf(publisher.publish(message, signal))),
      )) {
        expect(error).toSatisfy(isTerminalError);
        expect(error).toMatchObject({ message: "message cannot be encoded" });
      }
    }
    const circular: unknown[] = [];
    circular.push(circular);
    for (const payload of [undefined, circular, 1n]) {
      const message = sampleMessage({ topic: topicOf(queue.route) });
      const error = await errorOf(publisher.publish({ ...message, payload }, signal));
      expect(error).toSatisfy(isTerminalError);
    }
    const good = messagesFor(queue.route, 50);
    await Promise.all(good.map((message) => publisher.publish(message, signal)));
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(good).toSorted());
    expect(losses).toEqual([]);
  });

  it("uses only the channels that the broker allows", async () => {
    await using queue = await TestQueue.make(url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: `${url}?channelMax=3`,
      onError: (error) => losses.push(error),
    });
    const messages = messagesFor(queue.route, 200);
    await Promise.all(messages.map((message) => publisher.publish(message, signal)));
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(messages).toSorted());
    expect(losses).toEqual([]);
  });

  it("frees the channel of a publication that was aborted", async () => {
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url, channels: 1 });
    const [first, last, ...messages] = messagesFor(queue.route, 22) as [
      Message,
      Message,
      ...Message[],
    ];
    await publisher.publish(first, signal);
    const outcomes: unknown[] = [];
    for (const message of messages) {
      const stop = new AbortController();
      const outcome = errorOf(publisher.publish(message, stop.signal));
      await setImmediate(); // It is in flight now.
      stop.abort("enough");
      outcomes.push(await outcome);
    }
    await publisher.publish(last, signal);
    expect(outcomes).toContain("enough");
    const received = idsOf(await queue.take());
    expect(received.at(-1)).toBe(last.id);
    expect(new Set(received).size).toBe(received.length);
  });

  it("finds an exchange that was created later", async () => {
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const connection = await connect(url);
    const channel = await connection.createChannel();
    await using queue = await TestQueue.make(url);
    const exchange = `${queue.route.exchange}-later`;
    const message = sampleMessage({ topic: topicOf({ ...queue.route, exchange }) });
    expect(await errorOf(publisher.publish(message, signal))).toSatisfy(isUnroutableError);
    await channel.assertExchange(exchange, "fanout", { autoDelete: true });
    await channel.bindQueue(queue.name, exchange, "");
    await publisher.publish(message, signal);
    expect(idsOf(await queue.take())).toEqual([message.id]);
    await connection.close();
  });

  it("rejects messages that the broker refuses", async () => {
    await using queue = await TestQueue.make(url, {
      "x-max-length": 1,
      "x-overflow": "reject-publish",
    });
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const [first, second] = messagesFor(queue.route, 2) as [Message, Message];
    await publisher.publish(first, signal);
    expect(await errorOf(publisher.publish(second, signal))).toSatisfy(isUnconfirmedError);
    expect(idsOf(await queue.take())).toEqual([first.id]);
  });

  it("rejects unconfirmed messages after a lost connection, although they arrived", async () => {
    await using queue = await TestQueue.make(url);
    await using proxy = await TcpProxy.to(url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff,
      onError: (error) => losses.push(error),
    });
    const [first, second] = messagesFor(queue.route, 2) as [Message, Message];
    await publisher.publish(first, signal);
    proxy.deaf = true;
    const outcome = errorOf(publisher.publish(second, signal));
    const arrived = await retry(async () => {
      const ids = idsOf(await queue.take());
      if (!ids.includes(second.id)) throw new Error("not yet");
      return ids;
    });
    proxy.deaf = false;
    proxy.cut();
    expect(await outcome).toSatisfy(isUnconfirmedError);
    expect(arrived).toContain(second.id);
    await publisher.publish(second, signal);
    expect(idsOf(await queue.take())).toEqual([second.id]);
    expect(losses).toHaveLength(1);
  });

  it("loses nothing when the connection is lost again and again", async () => {
    await using queue = await TestQueue.make(url);
    await using proxy = await TcpProxy.to(url);
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff,
    });
    const messages = messagesFor(queue.route, 300);
    let failures = 0;
    for (let start = 0; start < messages.length; start += 100) {
      const delivery = deliver(publisher, messages.slice(start, start + 100));
      proxy.cut();
      proxy.deaf = true;
      await realClock.sleep(20);
      proxy.deaf = false;
      proxy.cut();
      failures += await delivery;
    }
    expect(failures).toBeGreaterThan(0);
    expect([...new Set(idsOf(await queue.take()))].toSorted()).toEqual(idsOf(messages).toSorted());
  });

  it("ends a wait for a connection with the signal, and does not send later", async () => {
    await using queue = await TestQueue.make(url);
    await using proxy = await TcpProxy.to(url);
    proxy.down = true;
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff,
    });
    const [given, kept] = messagesFor(queue.route, 2) as [Message, Message];
    const stop = new AbortController();
    const reason = new Error("enough");
    const outcome = errorOf(publisher.publish(given, stop.signal));
    const waits = publisher.publish(kept, signal);
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    expect(abortListeners(stop.signal)).toBe(0);
    proxy.down = false;
    await waits;
    expect(idsOf(await queue.take())).toEqual([kept.id]);
  });

  it("ends a wait for a confirmation with the signal, and leaves no listener", async () => {
    await using queue = await TestQueue.make(url);
    await using proxy = await TcpProxy.to(url);
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff,
    });
    const [first, second] = messagesFor(queue.route, 2) as [Message, Message];
    const stop = new AbortController();
    await publisher.publish(first, stop.signal);
    expect(abortListeners(stop.signal)).toBe(0);
    proxy.deaf = true;
    const reason = new Error("enough");
    const outcome = errorOf(publisher.publish(second, stop.signal));
    await realClock.sleep(20);
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("does not send for an aborted signal", async () => {
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url });
    const reason = new Error("stop");
    const message = sampleMessage({ topic: topicOf(queue.route) });
    expect(await errorOf(publisher.publish(message, AbortSignal.abort(reason)))).toBe(reason);
    expect(await queue.take()).toEqual([]);
  });

  it("rejects waiting and later messages at disposal", async () => {
    await using proxy = await TcpProxy.to(url);
    proxy.down = true;
    const publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff,
    });
    const waits = errorOf(publisher.publish(sampleMessage(), signal));
    await publisher[Symbol.asyncDispose]();
    const closed = new Error("publisher is closed");
    expect(await waits).toEqual(closed);
    expect(await errorOf(publisher.publish(sampleMessage(), signal))).toEqual(closed);
  });

  it("ends with the error of onError", async () => {
    const error = new Error("give up");
    const onError = (): never => {
      throw error;
    };
    await using proxy = await TcpProxy.to(url);
    proxy.down = true;
    const publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      onError,
    });
    expect(
      await errorOf(
        publisher.publish(
          sampleMessage({ topic: topicOf({ exchange: "", routingKey: "q" }) }),
          signal,
        ),
      ),
    ).toBe(error);
    expect(
      await errorOf(
        publisher.publish(
          sampleMessage({ topic: topicOf({ exchange: "", routingKey: "q" }) }),
          signal,
        ),
      ),
    ).toBe(error);
    expect(await errorOf(publisher[Symbol.asyncDispose]())).toBe(error);
  });
});
