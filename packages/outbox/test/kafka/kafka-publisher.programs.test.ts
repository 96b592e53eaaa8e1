import { isRefusedError, isUnconfirmedError, KafkaPublisher } from "@holdfast/outbox/kafka";
import { isTerminalError } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { testPublisher } from "../publisher.contract.ts";
import { sampleMessage } from "../sample-message.ts";
import { FakeKafka, ProtocolError } from "./fake-kafka.ts";

const { signal } = new AbortController();
const never = (): Promise<void> => new Promise(() => undefined);

// Beside a double: Debian and npm have no Kafka. On a real one: test/services/kafka-publisher.services.ts.
testPublisher("KafkaPublisher, beside a double of Kafka,", async () => {
  const kafka = new FakeKafka();
  const publisher = new KafkaPublisher(kafka);
  kafka.onSend = (topic) => {
    if (topic === "refused") throw new ProtocolError(29, "TOPIC_AUTHORIZATION_FAILED");
  };
  return {
    publisher,
    topic: "orders.paid",
    refused: "refused",
    deliveries: async () =>
      kafka.stored.map(({ headers, payload }) => ({ id: headers["idempotency-key"], payload })),
    hang: () => {
      kafka.onStored = never;
    },
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
});

describe("KafkaPublisher", () => {
  it("asks for all replicas in sync, and sends the key, the id and the headers", async () => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka, { topic: ({ topic }) => `shop.${topic}` });
    const headers = { traceparent: "00-1", "Idempotency-Key": "forged" };
    const message = sampleMessage({ topic: "paid", key: "order/4711", headers });
    await publisher.publish(message, signal);
    expect(kafka.options).toEqual([
      { idempotent: true, allowAutoTopicCreation: false, retry: { retries: 2 } },
    ]);
    expect(kafka.records.map(({ acks }) => acks)).toEqual([-1]);
    expect(kafka.stored).toEqual([
      {
        topic: "shop.paid",
        key: "order/4711",
        payload: message.payload,
        headers: {
          "content-type": "application/json",
          traceparent: "00-1",
          "idempotency-key": message.id,
        },
      },
    ]);
  });

  it("uses a producer again, one message at a time", async () => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    for (let turn = 0; turn < 3; turn++) await publisher.publish(sampleMessage(), signal);
    expect(kafka.options).toHaveLength(1);
    await Promise.all([1, 2, 3].map(() => publisher.publish(sampleMessage(), signal)));
    expect(kafka.options).toHaveLength(3);
    await Promise.all([1, 2, 3].map(() => publisher.publish(sampleMessage(), signal)));
    expect(kafka.options).toHaveLength(3);
    expect(kafka.stored).toHaveLength(9);
  });

  it("loses no message behind one whose acknowledgement was lost", async () => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    const [first, second, third] = [1, 2, 3].map(() => sampleMessage()) as [
      ReturnType<typeof sampleMessage>,
      ReturnType<typeof sampleMessage>,
      ReturnType<typeof sampleMessage>,
    ];
    await publisher.publish(first, signal);
    kafka.onStored = () => Promise.reject(new Error("Connection timeout"));
    const error = await errorOf(publisher.publish(second, signal));
    expect(error).toSatisfy(isUnconfirmedError);
    expect(error).toMatchObject({ message: "message not confirmed: Connection timeout" });
    kafka.onStored = () => undefined;
    await publisher.publish(third, signal);
    const ids = kafka.stored.map(({ headers }) => headers["idempotency-key"]);
    expect(ids).toEqual([first.id, second.id, third.id]);
    expect(kafka.connected.size).toBe(1);
  });

  it("uses no producer again whose message was given up", async () => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    const stop = new AbortController();
    let acknowledge: () => void = () => undefined;
    kafka.onStored = () => new Promise((resolve) => (acknowledge = resolve));
    const outcome = errorOf(publisher.publish(sampleMessage(), stop.signal));
    await expect.poll(() => kafka.stored.length).toBe(1);
    stop.abort("enough");
    expect(await outcome).toBe("enough");
    acknowledge();
    await expect.poll(() => kafka.connected.size).toBe(0);
  });

  it("sends nothing once it is given up or disposed while it connects, and leaves no connection", async () => {
    for (const isDisposed of [true, false]) {
      const kafka = new FakeKafka();
      const publisher = new KafkaPublisher(kafka);
      let connect: () => void = () => undefined;
      kafka.onConnect = () => new Promise((resolve) => (connect = resolve));
      const stop = new AbortController();
      const outcome = errorOf(publisher.publish(sampleMessage(), stop.signal));
      if (isDisposed) await publisher[Symbol.asyncDispose]();
      else stop.abort(new Error("enough"));
      expect(await outcome).toEqual(new Error(isDisposed ? "publisher is closed" : "enough"));
      connect();
      await expect.poll(() => kafka.connected.size).toBe(0);
      expect(kafka.records).toEqual([]);
      await publisher[Symbol.asyncDispose]();
    }
  });

  it.each([
    [3, "UNKNOWN_TOPIC_OR_PARTITION"],
    [10, "MESSAGE_TOO_LARGE"],
    [17, "INVALID_TOPIC_EXCEPTION"],
    [29, "TOPIC_AUTHORIZATION_FAILED"],
  ])("rejects with the code %i of a broker that keeps nothing", async (code, type) => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    kafka.onSend = () => {
      throw new Error("Retries exceeded", { cause: new ProtocolError(code, type) });
    };
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toSatisfy(isRefusedError);
    expect(error).toMatchObject({
      replyCode: code,
      message: `the broker refused the message with code ${code}: ${type}`,
    });
  });

  it.each([
    [7, "REQUEST_TIMED_OUT"],
    [20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"],
    [45, "OUT_OF_ORDER_SEQUENCE_NUMBER"],
  ])("rejects as unconfirmed with the code %i of a broker that may have it", async (code, type) => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    kafka.onSend = () => {
      throw new ProtocolError(code, type);
    };
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toSatisfy(isUnconfirmedError);
  });

  it("rejects as unconfirmed when no broker is reached, and connects anew for the next message", async () => {
    const kafka = new FakeKafka();
    await using publisher = new KafkaPublisher(kafka);
    kafka.onConnect = () => Promise.reject(new Error("connect ECONNREFUSED"));
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toMatchObject({ message: "message not confirmed: connect ECONNREFUSED" });
    kafka.onConnect = () => undefined;
    await publisher.publish(sampleMessage(), signal);
    expect(kafka.stored).toHaveLength(1);
  });

  it.each(["", ".", "..", "a b", "a/b", "é", "x".repeat(250)])(
    "never sends to the topic %j",
    async (topic) => {
      const kafka = new FakeKafka();
      await using publisher = new KafkaPublisher(kafka);
      const outcome = publisher.publish({ ...sampleMessage(), topic }, signal);
      expect(await errorOf(outcome)).toSatisfy(isTerminalError);
      expect(kafka.options).toEqual([]);
    },
  );
});
