// A server with one behaviour, started by peer.ts. It receives one message, { behaviour, port }, sends
// { port } when it listens, and exits with its parent.
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";

const servers = {
  /** Accepts connections and sends nothing. */
  hang: () => createServer((socket) => socket.on("error", () => {}).resume()),
  /** Accepts connections and resets them. */
  reset: () => createServer((socket) => socket.on("error", () => {}).resetAndDestroy()),
  /** HTTP/2: sends a SETTINGS frame first. */
  accept: () => createHttp2Server(),
};

process.once("message", ({ behaviour, port }) => {
  const server = servers[behaviour]();
  server.once("error", () => process.exit(1));
  server.listen(port, "127.0.0.1", () => {
    process.send({ port: server.address().port }, () => {}); // the parent may have exited
  });
});
process.once("disconnect", () => process.exit());
