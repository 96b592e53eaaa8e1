// A server that behaves as it is told, once: { behaviour, port }. Started by peer.ts, with whom it also
// ends, however that happens.
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:net";

const servers = {
  /** The connection stands, and nothing ever comes over it. */
  hang: () => createServer((socket) => socket.on("error", () => {}).resume()),
  /** The connection stands, for a moment. */
  reset: () => createServer((socket) => socket.on("error", () => {}).resetAndDestroy()),
  /** HTTP/2, which begins with a SETTINGS frame. */
  accept: () => createHttp2Server(),
};

process.once("message", ({ behaviour, port }) => {
  const server = servers[behaviour]();
  server.once("error", () => process.exit(1));
  server.listen(port, "127.0.0.1", () => {
    // Whoever waits for it may have ended: then there is nobody to tell.
    process.send("listening", () => {});
  });
});
process.once("disconnect", () => process.exit());
