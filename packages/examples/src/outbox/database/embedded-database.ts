import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { Turns } from "./turns.ts";
import { WireConnection } from "./wire-connection.ts";

/**
 * A PostgreSQL inside this process, in memory, that other processes connect to.
 *
 * PGlite has one session, which connections use in turns. A connection may die at any moment.
 */
export class EmbeddedDatabase implements AsyncDisposable {
  readonly #pglite: PGlite;
  readonly #server: Server;
  readonly #turns = new Turns();
  readonly #serving = new Map<Socket, Promise<void>>();

  private constructor(pglite: PGlite) {
    this.#pglite = pglite;
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  /**
   * Takes some seconds.
   *
   * @param pglite - one without tables, which is closed with this object. Created if undefined
   */
  static async start(pglite?: PGlite): Promise<EmbeddedDatabase> {
    const embedded = new EmbeddedDatabase(pglite ?? (await PGlite.create()));
    embedded.#server.listen(0, "127.0.0.1");
    await once(embedded.#server, "listening");
    return embedded;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#serving.keys()) socket.destroy();
    await Promise.all(this.#serving.values());
    await this.#pglite.close();
  }

  #serve(socket: Socket): void {
    socket.on("error", () => undefined); // Told by its end, too.
    const connection = new WireConnection(socket, this.#pglite, this.#turns);
    const served = connection.serve().finally(() => this.#serving.delete(socket));
    this.#serving.set(socket, served);
  }
}
