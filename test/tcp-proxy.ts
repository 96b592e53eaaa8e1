import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between a client and a server, and fails as networks do. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Clients from whom and to whom nothing passes any more. */
  readonly #forgotten = new WeakSet<Socket>();
  /** Whether what the server says is lost from now on, for those who are connected and who come. */
  deaf = false;
  /** Whether nobody gets through. */
  down = false;

  readonly #target: URL;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port), "127.0.0.1");
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined); // its close tells the other side
      }
      if (this.down) client.destroy();
      client.on("data", (data) => this.#forgotten.has(client) || upstream.write(data));
      upstream.on("data", (data) => this.deaf || this.#forgotten.has(client) || client.write(data));
      client.on("close", () => this.#drop(client, upstream));
      upstream.on("close", () => {
        if (!this.#forgotten.has(client)) this.#drop(upstream, client);
      });
    });
  }

  static async to(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The URL of the server, through this proxy. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return Object.assign(new URL(this.#target), { port: String(port) }).href;
  }

  /** Ends every connection as if a cable had been cut. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Leaves the open connections open, and passes nothing on, as a firewall that forgets them. New ones work. */
  forget(): void {
    for (const socket of this.#sockets) this.#forgotten.add(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #drop(socket: Socket, other: Socket): void {
    this.#sockets.delete(socket);
    other.destroy();
  }
}
