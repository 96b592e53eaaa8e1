#!/usr/bin/env bash
# Package: ioredis 6.0.0, redis 6.3.1
# Guess: both reject a command whose answer was lost with its connection.
# Seen: ioredis sends it again after the reconnect, also an INCR, which then counts twice; redis rejects it.
. "$(dirname "$0")/lib.sh"
needs redis-server
server redis
packages ioredis@6.0.0 redis@6.3.1
observe <<'JS'
import { connect, createServer } from "node:net";
import Redis from "ioredis";
import { createClient } from "redis";

const target = new URL(process.env.URL);
const admin = new Redis(process.env.URL);
/** A proxy that ends the connection instead of passing on the first answer to an INCR. */
async function proxy() {
  let cut = false;
  const server = createServer((client) => {
    let drop = false;
    const upstream = connect(Number(target.port), target.hostname);
    client.on("data", (data) => {
      if (!cut && /incr/i.test(data)) cut = drop = true;
      upstream.write(data);
    });
    upstream.on("data", (data) => (drop ? client.destroy() : client.write(data)));
    client.on("error", () => {}).on("close", () => upstream.destroy());
    upstream.on("error", () => {});
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `redis://:${target.password}@127.0.0.1:${server.address().port}`;
}
const clients = {
  ioredis: async (url) => new Redis(url).on("error", () => {}),
  redis: async (url) => await createClient({ url }).on("error", () => {}).connect(),
};
for (const [name, open] of Object.entries(clients)) {
  const client = await open(await proxy());
  const outcome = await client.incr(name).then((value) => `resolves with ${value}`, () => "rejects");
  console.log(`${name}: INCR ${outcome}; the server has ${await admin.get(name)}`);
}
process.exit();
JS
expect <<'TEXT'
ioredis: INCR resolves with 2; the server has 2
redis: INCR rejects; the server has 1
TEXT
