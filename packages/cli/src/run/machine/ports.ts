import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { addressesOf } from "../../network.ts";

/**
 * A TCP port on this machine that was free a moment ago, on either address of localhost. If another program takes it
 * first, the process fails to listen, and its restart gets another port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    if (!(await isTaken(port))) return port;
  }
}

/** Whether something listens on a port, on either address of localhost. */
export async function isTaken(port: number): Promise<boolean> {
  const answers = addressesOf("localhost").map(
    (host) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ host, port });
        const settle = (isOpen: boolean): void => {
          socket.destroy();
          resolve(isOpen);
        };
        socket.once("connect", () => settle(true)).once("error", () => settle(false));
      }),
  );
  return (await Promise.all(answers)).includes(true);
}
