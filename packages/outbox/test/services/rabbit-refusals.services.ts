import { realClock } from "@holdfast/clock";
import type { Message } from "@holdfast/outbox";
import { isRefusedError, RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { connect } from "amqplib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RabbitServer } from "../../../../services/rabbitmq.mjs";
import { errorOf } from "../../../../test/error-of.ts";
import { idsOf, messagesFor, routeOf, TestQueue } from "./test-queue.ts";

const { signal } = new AbortController();

let server: RabbitServer;

beforeAll(async () => {
  server = await RabbitServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Publishes good messages and bad ones together, twice. Returns the errors of the bad ones. */
async function publishTogether(
  url: string,
  queue: TestQueue,
  bad: readonly Message[],
): Promise<readonly unknown[]> {
  const losses: unknown[] = [];
  await using publisher = new RabbitPublisher({
    route: routeOf,
    url,
    onError: (error) => losses.push(error),
  });
  const publish = (message: Message): Promise<void> => publisher.publish(message, signal);
  const good = messagesFor(queue.route, 100);
  const errors: unknown[] = [];
  for (const half of [good.slice(0, 50), good.slice(50)]) {
    const confirmed = half.map(publish);
    errors.push(...(await Promise.all(bad.map((message) => errorOf(publish(message))))));
    await Promise.all(confirmed);
  }
  expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(good).toSorted());
  expect(losses).toEqual([]);
  return errors;
}

describe("a message that RabbitMQ refuses", () => {
  it("rejects with code 403 without write permission, and ends no other", async () => {
    await using queue = await TestQueue.make(server.url);
    await using denied = await TestQueue.make(server.url);
    await server.control("add_user", "writer", "secret");
    await server.control("set_permissions", "writer", "^$", `^${queue.route.exchange}$`, "^$");
    const url = server.url.replace(/\/\/.*@/, "//writer:secret@");
    const errors = await publishTogether(url, queue, messagesFor(denied.route, 10));
    expect(errors).toHaveLength(20);
    for (const error of errors) {
      expect(error).toSatisfy(isRefusedError);
      expect(error).toMatchObject({
        replyCode: 403,
        message: "the broker refused the message with code 403",
        cause: { message: expect.stringContaining("ACCESS_REFUSED") },
      });
    }
    expect(await denied.take()).toEqual([]);
  });

  it("rejects with code 403 without permission for its topic, and ends no other", async () => {
    await using queue = await TestQueue.make(server.url);
    const { exchange } = queue.route;
    await server.control("add_user", "reporter", "secret");
    await server.control("set_permissions", "reporter", "^$", ".*", "^$");
    const connection = await connect(server.url);
    const channel = await connection.createChannel();
    await channel.assertExchange(`${exchange}-topic`, "topic", { autoDelete: true });
    await channel.bindQueue(queue.name, `${exchange}-topic`, "#");
    await connection.close();
    await server.control("set_topic_permissions", "reporter", `${exchange}-topic`, "^open", "^$");
    const url = server.url.replace(/\/\/.*@/, "//reporter:secret@");
    const closed = { ...queue.route, exchange: `${exchange}-topic`, routingKey: "closed.orders" };
    const errors = await publishTogether(url, queue, messagesFor(closed, 10));
    expect(errors.map((error) => (error as { replyCode: unknown }).replyCode)).toEqual(
      new Array(20).fill(403),
    );
  });

  it("rejects with code 406 if it is too large, and ends no other", async () => {
    await using queue = await TestQueue.make(server.url);
    await server.control("eval", "application:set_env(rabbit, max_message_size, 50000).");
    const payload = "x".repeat(60_000);
    const bad = messagesFor(queue.route, 10).map((message) => ({ ...message, payload }));
    const errors = await publishTogether(server.url, queue, bad);
    expect(errors.map((error) => (error as { replyCode: unknown }).replyCode)).toEqual(
      new Array(20).fill(406),
    );
  });
});

/** Waits until RabbitMQ lists connections, and each in this state. */
async function connectionsBecome(state: "running" | "blocking" | "blocked"): Promise<void> {
  const list = ["list_connections", "state", "--quiet", "--no-table-headers"];
  const states = async () => new Set((await server.control(...list)).split("\n").filter(Boolean));
  await expect.poll(states).toEqual(new Set([state]));
}

/** Raises or ends the alarm of memory, and waits until every connection has heard of it. */
async function setAlarm(isOn: boolean): Promise<void> {
  await server.control("set_vm_memory_high_watermark", isOn ? "0" : "0.4");
  await connectionsBecome(isOn ? "blocking" : "running");
}

describe("an alarm of RabbitMQ", () => {
  it("lets messages wait until it is over, and sends none that was given up", async () => {
    await using queue = await TestQueue.make(server.url);
    const publisher = new RabbitPublisher({ route: routeOf, url: server.url });
    const before = messagesFor(queue.route, 5); // There are idle channels then.
    await Promise.all(before.map((message) => publisher.publish(message, signal)));
    expect(await queue.take()).toHaveLength(5);
    const messages = messagesFor(queue.route, 4);
    const [inFlight, givenUp, kept, closed] = messages as [Message, Message, Message, Message];
    await setAlarm(true);
    const outcomes = [publisher.publish(inFlight, signal)];
    await connectionsBecome("blocked"); // It is when it publishes.
    const stop = new AbortController();
    const reason = new Error("timed out");
    const outcome = errorOf(publisher.publish(givenUp, stop.signal));
    outcomes.push(publisher.publish(kept, signal));
    await realClock.sleep(100);
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    expect(await queue.take()).toEqual([]);

    await setAlarm(false);
    await Promise.all(outcomes);
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf([inFlight, kept]).toSorted());

    await setAlarm(true);
    const rejected = [inFlight, closed].map((message) =>
      errorOf(publisher.publish(message, signal)),
    );
    await connectionsBecome("blocked");
    await publisher[Symbol.asyncDispose]();
    const error = new Error("publisher is closed");
    expect(await Promise.all(rejected)).toEqual([error, error]);
  });
});
