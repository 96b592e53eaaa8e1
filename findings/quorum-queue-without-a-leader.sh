#!/usr/bin/env bash
# Package: RabbitMQ 3.10.8 of Debian 12, amqplib 2.3.1
# Guess: a quorum queue on one node has its confirmed message after the node was killed and started again.
# Seen: a queue that is new when the node is killed comes back without a leader. Its message is not to be had, and a later one
# is never confirmed. If the node was once stopped in good order since the queue was declared, all is well.
. "$(dirname "$0")/lib.sh"
needs rabbitmq-server epmd
packages amqplib@2.3.1
export SERVICES=$findings/../services
observe <<'JS'
import amqplib from "amqplib";
import { sleep } from "./kit.mjs";

const { RabbitServer } = await import(`${process.env.SERVICES}/rabbitmq.mjs`);
const server = await RabbitServer.start();
const use = async (work) => {
  const connection = await amqplib.connect(server.url);
  connection.on("error", () => {}); // the kill
  const channel = await connection.createConfirmChannel();
  channel.on("error", () => {});
  return await work(channel);
};
const confirmed = (queue, text) =>
  use(async (channel) => {
    channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
    const confirm = channel.waitForConfirms().then(() => "confirmed");
    return await Promise.race([confirm, sleep(10_000).then(() => "not confirmed in 10 s")]);
  });
const declare = (queue) =>
  use((channel) => channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } }));
try {
  await declare("old");
  await server.stop();
  await server.start();
  await declare("new");
  for (const queue of ["old", "new"]) console.log(`${queue}: the first message is ${await confirmed(queue, "1")}`);
  await server.kill();
  await server.start();
  for (const queue of ["old", "new"]) console.log(`${queue}: after the kill the second one is ${await confirmed(queue, "2")}`);
} finally {
  await server[Symbol.asyncDispose]();
}
process.exit();
JS
expect <<'TEXT'
old: the first message is confirmed
new: the first message is confirmed
old: after the kill the second one is confirmed
new: after the kill the second one is not confirmed in 10 s
TEXT
