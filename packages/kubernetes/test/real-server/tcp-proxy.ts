import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Passes connections on to a port of this machine, until it is frozen or closed. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #port: number;
  port = 0;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer((from) => this.#pass(from));
  }

  static async start(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    await proxy.open();
    return proxy;
  }

  /** Listens, on the port it had before. */
  async open(): Promise<void> {
    this.#server.listen(this.port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as { port: number }).port;
  }

  /** Refuses connections, and resets those that are open. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    await closed;
  }

  /** Leaves the open connections open, and passes nothing on. New connections work. */
  freeze(): void {
    for (const [from, to] of this.#pairs) {
      from.unpipe(to);
      to.unpipe(from);
      to.pause();
    }
  }

  #pass(from: Socket): void {
    const to = connect(this.#port, "127.0.0.1");
    const pair = [from, to] as const;
    this.#pairs.add(pair);
    from.pipe(to);
    to.pipe(from);
    for (const [socket, other] of [pair, [to, from] as const]) {
      socket.on("error", () => {}); // "close" follows
      socket.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
