import { randomUUID } from "node:crypto";
import { isRefusedError, KafkaPublisher } from "@holdfast/outbox/kafka";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { sampleMessage } from "../sample-message.ts";

const brokers = process.env["KAFKA_BROKERS"]?.split(",") ?? [];
const { signal } = new AbortController();

const isMissing = brokers.length === 0;
const title = isMissing
  ? "NOT RUN: Debian and npm have no Kafka; set KAFKA_BROKERS"
  : "on a real Kafka";

describe.skipIf(isMissing)(`KafkaPublisher, ${title}`, () => {
  const kafka = new Kafka({ clientId: "test", brokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const topic = `test-${randomUUID()}`;

  beforeAll(async () => {
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: true });
  });

  afterAll(async () => {
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
  });

  it("delivers each message with its id, and those of a key to one partition in order", async () => {
    await using publisher = new KafkaPublisher(kafka);
    const messages = Array.from({ length: 60 }, (_, order) =>
      sampleMessage({ topic, key: `order/${order % 6}`, payload: order }),
    );
    for (let start = 0; start < messages.length; start += 6)
      await Promise.all(
        messages.slice(start, start + 6).map((message) => publisher.publish(message, signal)),
      );
    const consumer = kafka.consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const received: { id: string; key: string; partition: number; payload: number }[] = [];
    await consumer.run({
      eachMessage: async ({ partition, message }) => {
        const id = String(message.headers?.["idempotency-key"]);
        const payload = JSON.parse(String(message.value));
        received.push({ id, key: String(message.key), partition, payload });
      },
    });
    await expect.poll(() => received.length).toBe(60);
    await consumer.disconnect();
    expect(received.map(({ id }) => id).toSorted()).toEqual(
      messages.map(({ id }) => id).toSorted(),
    );
    for (const key of new Set(received.map((message) => message.key))) {
      const ofKey = received.filter((message) => message.key === key);
      expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
      const order = ofKey.map(({ payload }) => payload);
      expect(order).toEqual(order.toSorted((one, other) => one - other));
    }
  });

  it("rejects a message for a missing topic, and creates none", async () => {
    await using publisher = new KafkaPublisher(kafka);
    const message = sampleMessage({ topic: `${topic}-missing` });
    expect(await errorOf(publisher.publish(message, signal))).toSatisfy(isRefusedError);
    expect(await admin.listTopics()).not.toContain(message.topic);
  });
});
