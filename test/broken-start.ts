import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** What a server says that is killed while a client connects, all in one packet. */
const LAST_WORDS = Buffer.concat([
  message("R", Buffer.alloc(4)), // authenticated
  message("Z", Buffer.from("I")), // ready
  message("E", Buffer.from("SFATAL\0C57P01\0Mterminating connection\0\0")),
]);

/** A PostgreSQL server whose connections break together with their start. */
export async function brokenPostgres(): Promise<{ readonly url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(LAST_WORDS));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://a:b@127.0.0.1:${port}/c`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
