#!/usr/bin/env bash
# Package: Node 26.10.0
# Guess: `server.requestTimeout = 1000` ends a request that stays incomplete after about 1 s.
# Seen: after 30 s: a server looks at its connections once in `connectionsCheckingInterval`, 30 s by default.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages
observe <<'JS'
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { seconds } from "./kit.mjs";

for (const options of [{}, { connectionsCheckingInterval: 500 }]) {
  const server = createServer({ requestTimeout: 1_000, headersTimeout: 1_000, ...options }, () => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  const begin = performance.now();
  const client = connect(server.address().port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n"); // without the empty line at its end
  const [answer] = await once(client, "data");
  const time = performance.now() - begin;
  const status = String(answer).split("\r\n")[0];
  console.log(`${JSON.stringify(options)}: ${status} after ${time > 10_000 ? seconds(time, 10) : "less than 10"} s`);
  client.destroy();
  server.close();
}
JS
expect <<'TEXT'
{}: HTTP/1.1 408 Request Timeout after 30 s
{"connectionsCheckingInterval":500}: HTTP/1.1 408 Request Timeout after less than 10 s
TEXT
