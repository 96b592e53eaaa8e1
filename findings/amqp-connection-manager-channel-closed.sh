#!/usr/bin/env bash
# Package: amqp-connection-manager 5.0.0, amqplib 2.3.1
# Guess: a message that is in flight when the connection breaks is published again, as one is that was published while the
# broker was away. A publish to an exchange that does not exist rejects with the 404.
# Seen: the one in flight rejects with "channel closed", although the broker has it: to publish again is the caller's task.
# The missing exchange is "channel closed", too, and no event has the 404.
. "$(dirname "$0")/lib.sh"
server rabbitmq
packages amqp-connection-manager@5.0.0 amqplib@2.3.1
observe <<'JS'
import { connect as connectTcp, createServer } from "node:net";
import manager from "amqp-connection-manager";
import { connect } from "amqplib";
import { sleep } from "./kit.mjs";

// A way to the broker that can hold back its answers, and break.
const url = new URL(process.env.URL);
const sockets = new Set();
let isHeld = false;
const way = createServer((near) => {
  const far = connectTcp(Number(url.port), "127.0.0.1");
  for (const socket of [near, far]) {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      near.destroy();
      far.destroy();
    });
  }
  near.pipe(far);
  far.on("data", (part) => isHeld || near.write(part));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => way.on("listening", resolve));

const channel = await (await connect(url.href)).createChannel();
await channel.assertQueue("q");
const connection = manager.connect([Object.assign(new URL(url), { port: way.address().port }).href], { reconnectTimeInSeconds: 1 });
const events = [];
connection.on("error", ({ message }) => events.push(message));
const publisher = connection.createChannel({ json: true });
publisher.on("error", ({ message }) => events.push(message));
await publisher.waitForConnect();
const outcome = (publish) => publish.then(() => "confirmed", ({ message }) => `rejected, ${message}`);

isHeld = true;
const inFlight = outcome(publisher.sendToQueue("q", 1));
while ((await channel.checkQueue("q")).messageCount === 0) await sleep(50);
isHeld = false;
for (const socket of sockets) socket.destroy();
console.log(`in flight: ${await inFlight}`);
console.log(`while away: ${await outcome(publisher.sendToQueue("q", 2))}`);
console.log(`in the queue: ${(await channel.checkQueue("q")).messageCount}`);
console.log(`no such exchange: ${await outcome(publisher.publish("nowhere", "", 3))}`);
await sleep(1_000);
console.log(`events with 404: ${events.filter((message) => message.includes("404")).length}`);
process.exit();
JS
expect <<'TEXT'
in flight: rejected, channel closed
while away: confirmed
in the queue: 2
no such exchange: rejected, channel closed
events with 404: 0
TEXT
