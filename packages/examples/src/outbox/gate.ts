import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Switch } from "./switch.ts";

/** The ports of servers whose URL names none. */
const PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5_432,
  "postgresql:": 5_432,
  "mysql:": 3_306,
  "amqp:": 5_672,
};

/** Parameters of a URL that ask for encryption, or for another way than TCP. */
const BEYOND_TCP = /[?&](ssl|sslmode|host|socketPath)=/i;

/** A TCP proxy on the loopback interface in front of a server: it can disconnect the server. */
export class Gate implements Switch, AsyncDisposable {
  /** The URL of the server, by way of the gate. */
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: Switch["state"] = "connected";

  private constructor(url: URL, server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const through = new URL(url);
    through.host = `127.0.0.1:${port}`;
    this.url = through.href;
    server.on("connection", (socket: Socket) => this.#forward(socket, url));
  }

  /** @returns undefined for a server that is not reached by plain TCP: a certificate is for its own name */
  static async before(url: string): Promise<Gate | undefined> {
    const target = URL.canParse(url) ? new URL(url) : undefined;
    const isPlain = target !== undefined && target.hostname !== "" && target.protocol in PORTS;
    if (!isPlain || BEYOND_TCP.test(target.search)) return undefined;
    const server = createServer({ noDelay: true, pauseOnConnect: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Gate(target, server);
  }

  get state(): Switch["state"] {
    return this.#state;
  }

  disconnect(): void {
    this.#state = "disconnected";
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  reconnect(): void {
    this.#state = "connected";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(socket: Socket, { hostname, port, protocol }: URL): void {
    this.#keep(socket);
    if (this.#state === "disconnected") {
      socket.resetAndDestroy();
      return;
    }
    const host = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
    const server = connect({ host, port: Number(port) || (PORTS[protocol] ?? 0), noDelay: true });
    this.#keep(server);
    // Each closes with the other.
    socket.once("close", () => server.destroy());
    server.once("close", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined); // Told by its end, too.
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
