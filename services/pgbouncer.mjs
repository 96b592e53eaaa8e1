// A PgBouncer in front of a PostgreSQL server.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.mjs";
import { Service, started, userFor } from "./server.mjs";

/** Where Debian keeps it. */
const PGBOUNCER_PROGRAM = "/usr/sbin/pgbouncer";

export class PgBouncer extends Service {
  /**
   * @param {number} port
   * @param {string} server the URL of the PostgreSQL server
   * @param {"transaction" | "session" | "statement"} mode when a connection of the server is given back
   */
  constructor(port, server, mode) {
    // PgBouncer refuses to run as root.
    super("pgbouncer", { user: userFor("postgres"), stopSignal: "SIGINT" });
    const { hostname, port: serverPort, username, password, pathname } = new URL(server);
    const url = new URL(server);
    url.port = `${port}`;
    this.url = url.href;
    writeFileSync(join(this.directory, "users.txt"), `"${username}" "${password}"\n`);
    const settings = {
      listen_addr: "127.0.0.1",
      listen_port: port,
      unix_socket_dir: "",
      auth_type: "plain",
      auth_file: join(this.directory, "users.txt"),
      pool_mode: mode,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const database = `${pathname.slice(1)} = host=${hostname} port=${serverPort}`;
    const text = ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n");
    writeFileSync(join(this.directory, "pgbouncer.ini"), text);
  }

  /** Whether it is installed. */
  static get isInstalled() {
    return existsSync(PGBOUNCER_PROGRAM);
  }

  /**
   * @param {string} server the URL of the PostgreSQL server
   * @param {"transaction" | "session" | "statement"} [mode] when a connection of the server is given back
   */
  static async start(server, mode = "transaction") {
    return await started(new PgBouncer(await freePort(), server, mode));
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    await this.launch(
      {
        name: "PgBouncer",
        command: PGBOUNCER_PROGRAM,
        args: [join(this.directory, "pgbouncer.ini")],
        greet: async () => {
          const client = new pg.Client(this.url);
          client.on("error", () => undefined); // told by the rejection, too
          try {
            await client.connect();
          } finally {
            await client.end();
          }
        },
      },
      signal,
    );
  }
}
