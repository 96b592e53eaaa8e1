import { randomUUID } from "node:crypto";
import { isRefusedError, isUnconfirmedError, NatsPublisher } from "@holdfast/outbox/nats";
import { isTerminalError, retry } from "@holdfast/wait";
import { type JetStreamManager, jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NatsServer, natsOptions } from "../../../../services/nats.mjs";
import { errorOf } from "../../../../test/error-of.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import { testPublisher } from "../publisher.contract.ts";
import { sampleMessage } from "../sample-message.ts";

const { signal } = new AbortController();

let server: NatsServer;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  server = await NatsServer.start();
  connection = await connect(natsOptions(server.url));
  manager = await jetstreamManager(connection);
});

afterAll(async () => {
  await connection.close();
  await server[Symbol.asyncDispose]();
});

/** A stream of its own, with the subjects that begin with its name. */
async function makeStream(config: Partial<StreamConfig> = {}): Promise<string> {
  const name = `test-${randomUUID()}`;
  await manager.streams.add({ name, subjects: [`${name}.>`], ...config });
  return name;
}

interface Stored {
  readonly id: unknown;
  readonly subject: string;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

async function storedIn(stream: string): Promise<readonly Stored[]> {
  const { state } = await manager.streams.info(stream);
  const stored: Stored[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
    const message = await manager.streams.getMessage(stream, { seq });
    if (message === null) continue;
    const names = message.header.keys();
    const headers = Object.fromEntries(names.map((name) => [name, message.header.get(name)]));
    const { subject } = message;
    stored.push({ id: headers["Nats-Msg-Id"], subject, payload: message.json(), headers });
  }
  return stored;
}

testPublisher("NatsPublisher", async () => {
  const stream = await makeStream();
  const proxy = await TcpProxy.to(server.url);
  const own = await connect(natsOptions(proxy.url));
  const publisher = new NatsPublisher(own);
  return {
    publisher,
    topic: `${stream}.orders.paid`,
    refused: `elsewhere-${stream}`,
    isDeduplicating: true,
    deliveries: async () => (await storedIn(stream)).map(({ id, payload }) => ({ id, payload })),
    hang: () => {
      proxy.deaf = true;
    },
    [Symbol.asyncDispose]: async () => {
      await publisher[Symbol.asyncDispose]();
      await own.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
});

describe("NatsPublisher", () => {
  it("sends the id, the headers and the payload to the subject", async () => {
    const stream = await makeStream();
    await using publisher = new NatsPublisher(connection, {
      subject: ({ topic }) => `${stream}.${topic}`,
    });
    const message = sampleMessage({ topic: "orders.paid", headers: { traceparent: "00-é" } });
    await publisher.publish(message, signal);
    const other = sampleMessage({ headers: { "CONTENT-TYPE": "application/vnd.shop+json" } });
    await publisher.publish({ ...other, topic: "orders.sent" }, signal);
    expect(await storedIn(stream)).toEqual([
      {
        id: message.id,
        subject: `${stream}.orders.paid`,
        payload: message.payload,
        headers: {
          "Content-Type": "application/json",
          traceparent: "00-é",
          "Nats-Msg-Id": message.id,
        },
      },
      {
        id: other.id,
        subject: `${stream}.orders.sent`,
        payload: other.payload,
        headers: { "CONTENT-TYPE": "application/vnd.shop+json", "Nats-Msg-Id": other.id },
      },
    ]);
  });

  it("rejects with code 503 for a subject of no stream", async () => {
    await using publisher = new NatsPublisher(connection);
    const error = await errorOf(publisher.publish(sampleMessage({ topic: "nowhere" }), signal));
    expect(error).toSatisfy(isRefusedError);
    expect(error).toMatchObject({
      replyCode: 503,
      message:
        "the broker refused the message with code 503: no stream has the subject nowhere; create one, with JetStream enabled",
    });
  });

  it("rejects with the code of a stream that refuses", async () => {
    const stream = await makeStream({ max_msgs: 1, discard: "new" as never, max_msg_size: 1_000 });
    await using publisher = new NatsPublisher(connection);
    const topic = `${stream}.a`;
    const large = sampleMessage({ topic, payload: "x".repeat(2_000) });
    expect(await errorOf(publisher.publish(large, signal))).toMatchObject({
      name: "RefusedError",
      replyCode: 10_054,
      cause: { name: "JetStreamApiError" },
    });
    await publisher.publish(sampleMessage({ topic }), signal);
    expect(await errorOf(publisher.publish(sampleMessage({ topic }), signal))).toMatchObject({
      name: "RefusedError",
      replyCode: 10_077,
    });
    expect(await storedIn(stream)).toHaveLength(1);
  });

  it("rejects a message above the limit of the server, before it is sent", async () => {
    await using publisher = new NatsPublisher(connection);
    const message = sampleMessage({ topic: "large", payload: "x".repeat(1_100_000) });
    const error = await errorOf(publisher.publish(message, signal));
    expect(error).toSatisfy(isUnconfirmedError);
    expect(error).toMatchObject({ message: expect.stringContaining("max_payload") });
  });

  it.each([
    "",
    "a b",
    "a..b",
    ".a",
    "a.",
    "a.*",
    ">",
    "a.>",
    "a\r\nPUB b 0",
    "a\u00a0b",
    "a\0b",
    "$JS.API.STREAM.PURGE.orders",
    "$SYS.a",
  ])("never sends to the subject %j", async (topic) => {
    await using publisher = new NatsPublisher(connection);
    const outcome = publisher.publish({ ...sampleMessage(), topic }, signal);
    expect(await errorOf(outcome)).toSatisfy(isTerminalError);
  });

  it.each(["Nats-Msg-Id", "nats-rollup", "NATS-Expected-Stream"])(
    "never sends a message that sets the header %s",
    async (name) => {
      const stream = await makeStream({ allow_rollup_hdrs: true });
      await using publisher = new NatsPublisher(connection);
      const headers = { [name]: "all" };
      const outcome = publisher.publish(sampleMessage({ topic: `${stream}.a`, headers }), signal);
      expect(await errorOf(outcome)).toMatchObject({
        name: "TerminalError",
        message: `message must not set the header ${name.toLowerCase()}`,
      });
      expect(await storedIn(stream)).toEqual([]);
    },
  );

  it("rejects as unconfirmed when no acknowledgement comes in time, and the stream has it once after the next attempt", async () => {
    const stream = await makeStream();
    await using proxy = await TcpProxy.to(server.url);
    const own = await connect({ ...natsOptions(proxy.url), reconnectTimeWait: 50 });
    await using publisher = new NatsPublisher(own, { timeout: 300 });
    const message = sampleMessage({ topic: `${stream}.a` });
    proxy.deaf = true;
    const error = await errorOf(publisher.publish(message, signal));
    expect(error).toSatisfy(isUnconfirmedError);
    expect(error).toMatchObject({ message: "message not confirmed: timeout" });
    proxy.deaf = false;
    proxy.cut();
    const patient = { retries: Number.POSITIVE_INFINITY, backoff: { duration: 50 } };
    await retry(() => publisher.publish(message, signal), patient);
    expect((await storedIn(stream)).map(({ id }) => id)).toEqual([message.id]);
    await own.close();
    expect(await errorOf(publisher.publish(message, signal))).toSatisfy(isUnconfirmedError);
  });

  it("delivers each message of an outbox once while the server is killed and started", async () => {
    const stream = await makeStream();
    await using publisher = new NatsPublisher(connection, { timeout: 2_000 });
    const messages = Array.from({ length: 200 }, (_, order) =>
      sampleMessage({ topic: `${stream}.a`, payload: order }),
    );
    const deliver = (from: number, to: number): Promise<unknown> =>
      Promise.all(
        messages.slice(from, to).map((message) =>
          retry(({ signal: own }) => publisher.publish(message, own), {
            ...{
              retries: Number.POSITIVE_INFINITY,
              backoff: { duration: 50, factor: 2, cap: 500 },
            },
          }),
        ),
      );
    for (let round = 0; round < 2; round++) {
      const delivery = deliver(round * 100, round * 100 + 100);
      await server.kill();
      await server.start();
      await delivery;
    }
    const ids = (await storedIn(stream)).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
  });
});
