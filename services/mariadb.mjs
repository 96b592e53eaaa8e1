// A MariaDB server of the distribution. Its directory lasts through stops.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { freePort } from "./free-port.mjs";
import { makeDirectory, PASSWORD, removeDirectory, Server, started, userFor } from "./server.mjs";

/** Where Debian keeps the server: not in the path of every user. */
export const MARIADB_PROGRAM = "/usr/sbin/mariadbd";

/** A new directory comes with users without a name, who would be taken for others, and with a root without a password. */
const ONLY_ROOT = `DELETE FROM mysql.global_priv WHERE User = '';
UPDATE mysql.global_priv SET Priv = JSON_SET(Priv, '$.authentication_string', PASSWORD('${PASSWORD}')) WHERE User = 'root';
FLUSH PRIVILEGES;
`;

export class MariaServer {
  /** @type {string} */ #directory;
  /** @type {import("./server.mjs").User | undefined} */ #user;
  /** @type {Record<string, string>} */ #settings;
  /** @type {Server | undefined} */ #server;

  /**
   * @param {number} port
   * @param {Record<string, string>} [settings] besides those that all have here
   */
  constructor(port, settings = {}) {
    this.#settings = settings;
    this.port = port;
    this.url = `mysql://root:${PASSWORD}@127.0.0.1:${port}/`;
    // MariaDB refuses to run as root.
    this.#user = userFor("mysql");
    this.#directory = makeDirectory("mariadb", this.#user);
    writeFileSync(this.#initFile, ONLY_ROOT);
    execFileSync(
      "mariadb-install-db",
      [
        ...["--no-defaults", `--datadir=${this.#data}`, "--skip-test-db", "--skip-name-resolve"],
        "--auth-root-authentication-method=normal",
      ],
      { ...this.#user, cwd: this.#directory, stdio: ["ignore", "ignore", "inherit"] },
    );
  }

  /**
   * @param {AbortSignal} [signal]
   * @param {Record<string, string>} [settings] besides those that all have here
   */
  static async start(signal, settings) {
    return await started(new MariaServer(await freePort(), settings), signal);
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    const settings = {
      datadir: this.#data,
      "init-file": this.#initFile,
      "bind-address": "127.0.0.1",
      port: this.port,
      socket: join(this.#directory, "socket"),
      "pid-file": join(this.#directory, "pid"),
      "max-connections": 200,
      "innodb-flush-log-at-trx-commit": 0, // nothing here outlives the machine
      ...this.#settings,
    };
    this.#server = await Server.start(
      {
        name: "MariaDB",
        directory: this.#directory,
        command: MARIADB_PROGRAM,
        args: [
          ...["--no-defaults", "--skip-name-resolve"],
          ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
        ],
        user: this.#user,
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  async stop() {
    await this.#server?.stop();
  }

  async kill() {
    await this.#server?.kill();
  }

  /** Stops for good. */
  async [Symbol.asyncDispose]() {
    await this.stop();
    removeDirectory(this.#directory);
  }

  get #data() {
    return join(this.#directory, "data");
  }

  get #initFile() {
    return join(this.#directory, "init.sql");
  }

  async #greet() {
    const connection = await createConnection(this.url);
    await connection.query("SELECT 1");
    await connection.end();
  }
}
