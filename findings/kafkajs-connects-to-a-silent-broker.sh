#!/usr/bin/env bash
# Package: kafkajs 2.2.4
# Guess: `retry` of a producer limits its `connect`; a broker that accepts connections and never answers makes `connect`
# reject after its time limit; `disconnect` ends a `connect` in its delay.
# Seen: `connect` follows the `retry` of the client. It takes an open connection that never answered for a connected one: it
# resolves after 30 s, if there is a retry. `disconnect` resolves at once, and the `connect` goes on to its end.
. "$(dirname "$0")/lib.sh"
packages kafkajs@2.2.4
observe --no-warnings <<'JS'
import { createServer } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { seconds, sleep } from "./kit.mjs";

const silent = createServer(() => {}).listen(0, "127.0.0.1");
await new Promise((resolve) => silent.on("listening", resolve));
const outcome = async (port, retry, ofProducer, meanwhile) => {
  const client = { clientId: "a", brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING };
  const producer = new Kafka({ ...client, ...(retry && { retry }) }).producer(ofProducer && { retry: ofProducer });
  const begin = performance.now();
  const connected = producer.connect().then(() => "resolves", (error) => `rejects, ${error.name}`);
  await meanwhile?.(producer);
  return [await connected, performance.now() - begin];
};
const none = { retries: 0 };
const all = await Promise.all([
  outcome(1),
  outcome(1, undefined, none),
  outcome(1, none),
  outcome(silent.address().port),
  outcome(silent.address().port, none),
  outcome(1, undefined, undefined, (producer) => sleep(500).then(() => producer.disconnect())),
]);
const names = [
  ...["no broker", "no broker, producer without retries", "no broker, client without retries"],
  ...["silent broker", "silent broker, client without retries", "no broker, disconnect after 0.5 s"],
];
for (const [place, name] of names.entries()) {
  const [how, ms] = all[place];
  const time = ms < 2_000 ? "less than 2" : ms < 20_000 ? "4 to 20" : seconds(ms, 10);
  console.log(`${name}: ${how} after ${time} s`);
}
process.exit();
JS
expect <<'TEXT'
no broker: rejects, KafkaJSNumberOfRetriesExceeded after 4 to 20 s
no broker, producer without retries: rejects, KafkaJSNumberOfRetriesExceeded after 4 to 20 s
no broker, client without retries: rejects, KafkaJSNumberOfRetriesExceeded after less than 2 s
silent broker: resolves after 30 s
silent broker, client without retries: rejects, KafkaJSNumberOfRetriesExceeded after 30 s
no broker, disconnect after 0.5 s: rejects, KafkaJSNumberOfRetriesExceeded after 4 to 20 s
TEXT
