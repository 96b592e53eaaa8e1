import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * A TCP port on this machine that was free a moment ago. If somebody else takes it first, the
 * process that was to have it fails to listen, and its restart gets another one.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
