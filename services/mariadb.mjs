// A MariaDB server of the distribution. Its directory lasts through stops.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { freePort } from "./free-port.mjs";
import { PASSWORD, Service, started, userFor } from "./server.mjs";

/** Where Debian keeps the server: not in the path of every user. */
export const MARIADB_PROGRAM = "/usr/sbin/mariadbd";

/** A new directory comes with users without a name, who would be taken for others, and with a root without a password. */
const ONLY_ROOT = `DELETE FROM mysql.global_priv WHERE User = '';
UPDATE mysql.global_priv SET Priv = JSON_SET(Priv, '$.authentication_string', PASSWORD('${PASSWORD}')) WHERE User = 'root';
FLUSH PRIVILEGES;
`;

export class MariaServer extends Service {
  /** @type {Record<string, string>} */ #settings;

  /**
   * @param {number} port
   * @param {Record<string, string>} [settings] besides those that all have here
   */
  constructor(port, settings = {}) {
    // MariaDB refuses to run as root.
    super("mariadb", { user: userFor("mysql") });
    this.#settings = settings;
    this.port = port;
    this.url = `mysql://root:${PASSWORD}@127.0.0.1:${port}/`;
    writeFileSync(this.#initFile, ONLY_ROOT);
    execFileSync(
      "mariadb-install-db",
      [
        ...["--no-defaults", `--datadir=${this.#data}`, "--skip-test-db", "--skip-name-resolve"],
        "--auth-root-authentication-method=normal",
      ],
      { ...this.user, cwd: this.directory, stdio: ["ignore", "ignore", "inherit"] },
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
      socket: join(this.directory, "socket"),
      "pid-file": join(this.directory, "pid"),
      "max-connections": 200,
      "innodb-flush-log-at-trx-commit": 0, // nothing here outlives the machine
      ...this.#settings,
    };
    await this.launch(
      {
        name: "MariaDB",
        command: MARIADB_PROGRAM,
        args: [
          ...["--no-defaults", "--skip-name-resolve"],
          ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
        ],
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  get #data() {
    return join(this.directory, "data");
  }

  get #initFile() {
    return join(this.directory, "init.sql");
  }

  async #greet() {
    const connection = await createConnection(this.url);
    await connection.query("SELECT 1");
    await connection.end();
  }
}
