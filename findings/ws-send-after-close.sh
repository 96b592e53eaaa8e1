#!/usr/bin/env bash
# Package: ws 8.23.0
# Guess: `send` on a closed socket throws, as it does on one that is connecting.
# Seen: it neither throws nor emits an error. Without a callback the message is lost in silence.
. "$(dirname "$0")/lib.sh"
packages ws@8.23.0
observe <<'JS'
import { once } from "node:events";
import WebSocket, { WebSocketServer } from "ws";

const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
await once(server, "listening");
const socket = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
socket.on("error", () => console.log("error event"));
const send = (state, ...rest) => {
  try {
    socket.send("message", ...rest);
    console.log(`${state}: does not throw`);
  } catch (error) {
    console.log(`${state}: throws ${error.message}`);
  }
};
send("connecting");
await once(socket, "open");
socket.close();
await once(socket, "close");
send("closed");
send("closed, with a callback", (error) => console.log(`callback: ${error.message}`));
server.close();
JS
expect <<'TEXT'
connecting: throws WebSocket is not open: readyState 0 (CONNECTING)
closed: does not throw
closed, with a callback: does not throw
callback: WebSocket is not open: readyState 3 (CLOSED)
TEXT
