#!/usr/bin/env bash
# Package: @nats-io/transport-node 3.4.0
# Guess: the user and the password of a server's URL log in.
# Seen: both are dropped without a word; they are the options `user` and `pass`. Digits at the start of the password become
# the port: the client connects there, not to the port of the URL.
. "$(dirname "$0")/lib.sh"
packages @nats-io/transport-node@3.4.0
observe <<'JS'
import { once } from "node:events";
import { createServer } from "node:net";
import { connect } from "@nats-io/transport-node";

// Says hello as a server of NATS does, and tells what a client logs in with.
const listener = async (name) => {
  const server = createServer((socket) => {
    const info = { server_id: "A", version: "2.9.0", proto: 1, max_payload: 1_000, auth_required: true, headers: true };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.once("data", (data) => {
      const { user, pass } = JSON.parse(/^CONNECT (.*)\r\n/.exec(data)[1]);
      console.log(`  ${name}: user ${user}, password ${pass}`);
      socket.end("-ERR 'Authorization Violation'\r\n");
    });
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
};
const port = await listener("the port of the URL");
const other = await listener("another port");
const attempt = async (name, options) => {
  console.log(name);
  await connect({ ...options, reconnect: false }).catch(() => {});
};
await attempt("user and pass", { servers: `127.0.0.1:${port}`, user: "shop", pass: "secret" });
await attempt("nats://shop:secret@…", { servers: `nats://shop:secret@127.0.0.1:${port}` });
await attempt("nats://shop:DIGITSsecret@…", { servers: `nats://shop:${other}secret@127.0.0.1:${port}` });
process.exit();
JS
expect <<'TEXT'
user and pass
  the port of the URL: user shop, password secret
nats://shop:secret@…
  the port of the URL: user undefined, password undefined
nats://shop:DIGITSsecret@…
  another port: user undefined, password undefined
TEXT
