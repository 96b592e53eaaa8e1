import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to listeners of port 0 and to connections: those never take one of these. */
const RANGE = /** @type {const} */ ([10_000, 30_000]);

/** A TCP port of this machine without a listener, for a program that is told its port. */
export async function freePort() {
  for (;;) {
    const port = randomInt(...RANGE);
    const server = createServer().listen(port);
    try {
      await once(server, "listening");
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
