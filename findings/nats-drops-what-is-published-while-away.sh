#!/usr/bin/env bash
# Package: @nats-io/transport-node 3.4.0
# Guess: `publish` while the client reconnects is kept and delivered afterwards, or throws.
# Seen: it returns, and the message is dropped. `flush` of that time rejects. A publish of JetStream has an answer and
# shows it; this one has none.
. "$(dirname "$0")/lib.sh"
server nats
packages @nats-io/transport-node@3.4.0
observe <<'JS'
import { connect as connectTcp, createServer } from "node:net";
import { connect } from "@nats-io/transport-node";
import { sleep } from "./kit.mjs";

const url = new URL(process.env.URL);
const sockets = new Set();
const listen = (port) =>
  new Promise((resolve) => {
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
      near.pipe(far).pipe(near);
    }).listen(port, "127.0.0.1", () => resolve(way));
  });
const login = { user: url.username, pass: url.password };
const reader = await connect({ servers: url.host, ...login });
const arrived = [];
reader.subscribe("a", { callback: (_error, message) => arrived.push(message.string()) });
await reader.flush();

const way = await listen(0);
const { port } = way.address();
const writer = await connect({ servers: `127.0.0.1:${port}`, ...login, reconnectTimeWait: 200 });
let reconnects = 0;
const follow = async () => {
  for await (const { type } of writer.status()) if (type === "reconnect") reconnects++;
};
follow();
writer.publish("a", "before");
await writer.flush();
way.close();
for (const socket of sockets) socket.destroy();
await sleep(500);
writer.publish("a", "while away");
const flushed = writer.flush().then(() => "resolves", () => "rejects");
await listen(port);
while (reconnects === 0) await sleep(50);
writer.publish("a", "after");
await writer.flush();
while (!arrived.includes("after")) await sleep(50);
console.log(`arrived: ${arrived.join(", ")}; flush while away: ${await flushed}`);
process.exit();
JS
expect <<'TEXT'
arrived: before, after; flush while away: rejects
TEXT
