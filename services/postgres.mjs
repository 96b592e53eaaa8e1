// A PostgreSQL server of the distribution. Its directory lasts through stops.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.mjs";
import { PASSWORD, Service, started, userFor } from "./server.mjs";

/** Where Debian keeps each version. */
const VERSIONS = "/usr/lib/postgresql";

/** The directory of the programs of the newest version; undefined if there is none. */
export function postgresPrograms() {
  if (!existsSync(VERSIONS)) return undefined;
  return readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, "bin"))
    .find((directory) => existsSync(join(directory, "initdb")));
}

export class PostgresServer extends Service {
  /** @type {Record<string, string>} */ #settings;

  /**
   * @param {number} port
   * @param {string} programs
   * @param {Record<string, string>} [settings] besides those that all have here
   */
  constructor(port, programs, settings = {}) {
    // PostgreSQL refuses to run as root. It stops in good order, but without waiting for those who are connected.
    super("postgres", { user: userFor("postgres"), stopSignal: "SIGINT" });
    this.#settings = settings;
    this.port = port;
    this.programs = programs;
    this.url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
    const password = join(this.directory, "password");
    writeFileSync(password, PASSWORD);
    execFileSync(
      join(programs, "initdb"),
      [
        ...["-D", this.#data, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${password}`],
        ...["-E", "UTF8", "--no-sync", "--locale=C"],
      ],
      { ...this.user, cwd: this.directory, stdio: ["ignore", "ignore", "inherit"] },
    );
  }

  /**
   * @param {AbortSignal} [signal]
   * @param {Record<string, string>} [settings] besides those that all have here
   */
  static async start(signal, settings) {
    const programs = postgresPrograms();
    if (programs === undefined) throw new Error("PostgreSQL is not installed");
    return await started(new PostgresServer(await freePort(), programs, settings), signal);
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    const settings = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: this.directory,
      max_connections: 200,
      fsync: "off", // nothing here outlives the machine
      ...this.#settings,
    };
    await this.launch(
      {
        name: "PostgreSQL",
        command: join(this.programs, "postgres"),
        args: [
          ...["-D", this.#data, "-p", `${this.port}`],
          ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
        ],
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  get #data() {
    return join(this.directory, "data");
  }

  async #greet() {
    const client = new pg.Client(this.url);
    client.on("error", () => undefined); // told by the rejection, too
    try {
      await client.connect();
      await client.query("SELECT 1");
    } finally {
      await client.end();
    }
  }
}
