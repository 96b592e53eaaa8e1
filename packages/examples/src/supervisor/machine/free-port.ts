import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * A TCP port on this machine that was free a moment ago. If another program takes it first, the process
 * fails to listen, and its restart gets another port.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
