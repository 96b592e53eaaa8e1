import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { freePort } from "../../supervisor/machine/free-port.ts";

/** Connections that may be open at once. PGlite has one session: their transactions take turns. */
const MOST_CONNECTIONS = 100;

/** A PostgreSQL inside this process, in memory, that other processes connect to. */
export class EmbeddedDatabase implements AsyncDisposable {
  readonly url: string;
  readonly #pglite: PGlite;
  readonly #server: PGLiteSocketServer;

  private constructor(url: string, pglite: PGlite, server: PGLiteSocketServer) {
    this.url = url;
    this.#pglite = pglite;
    this.#server = server;
  }

  /** Takes some seconds. */
  static async start(): Promise<EmbeddedDatabase> {
    const db = await PGlite.create();
    const [host, port] = ["127.0.0.1", await freePort()];
    const server = new PGLiteSocketServer({ db, host, port, maxConnections: MOST_CONNECTIONS });
    await server.start();
    return new EmbeddedDatabase(`postgres://postgres@${host}:${port}/postgres`, db, server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    await this.#pglite.close();
  }
}
