import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { optional } from "@holdfast/kit/node";
import * as mysql from "../mysql/migrate.ts";
import { MySqlDatabase } from "../mysql/mysql-database.ts";
import { MySqlStore } from "../mysql/mysql-store.ts";
import { PGliteDatabase } from "../pglite/pglite-database.ts";
import { requireSchema } from "../postgres/in-schema.ts";
import * as postgres from "../postgres/migrate.ts";
import { PgDatabase } from "../postgres/pg-database.ts";
import type { PostgresDatabase } from "../postgres/postgres-database.ts";
import { PostgresStore } from "../postgres/postgres-store.ts";
import { requirePrefix } from "../store/database.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import { mysqlParameters, requirePostgresParameters } from "./parameters.ts";
import { TOO_LONG } from "./problem.ts";

/** An outbox in a database. */
export interface Connection extends AsyncDisposable {
  /** The database, for people: without credentials. */
  readonly name: string;
  readonly store: OutboxStore<never>;
  /** Brings the tables up to date; resolves with the numbers of the applied migrations. */
  readonly migrate: () => Promise<readonly number[]>;
  /** The statements that {@link Connection.migrate} would run now. */
  readonly pending: () => Promise<readonly string[]>;
}

/**
 * Opens the outbox whose tables have this prefix, in the database of a URL or a folder of PGlite.
 *
 * @param timeout - the longest that a statement may take, in milliseconds; default: 60,000. A PGlite has no limit
 * @param schema - of the tables, on PostgreSQL and PGlite; by default they are found by `search_path`
 */
export type Connect = (
  target: string,
  prefix: string,
  timeout?: number,
  schema?: string,
) => Promise<Connection>;

type Tables = postgres.PostgresMigrateOptions;

/** How long a server may take to answer, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** How much later than a statement a connection without any response ends, in milliseconds. */
const SILENCE = 2_000;

/** The forms of a target, for people: what {@link connect} takes. */
export const TARGETS =
  "postgres://, postgresql://, mysql:// or mariadb:// with the rest of a URL, or a folder of PGlite, which has a file PG_VERSION";

/** @throws RangeError if the target is none; Error that names the driver to install */
export const connect: Connect = async (target, prefix, timeout = 60_000, schema) => {
  requirePrefix("--prefix", prefix);
  if (schema !== undefined) requireSchema("--schema", schema);
  const tables = { prefix, schema };
  const [, scheme] = /^([a-z]+):\/\//.exec(target) ?? [];
  switch (scheme) {
    case "postgres":
    case "postgresql":
      return await openPostgres(target, tables, timeout);
    case "mysql":
    case "mariadb":
      if (schema !== undefined)
        throw new RangeError("--schema is for PostgreSQL: on MySQL, --url names the database");
      return await openMySql(target, prefix, timeout);
    case undefined:
      return await openPGlite(target, tables);
    default:
      throw new RangeError(`--url must be ${TARGETS}; got ${scheme}://`);
  }
};

async function openPostgres(url: string, tables: Tables, timeout: number): Promise<Connection> {
  const name = nameOf(url);
  requirePostgresParameters(url);
  const { default: pg } = await optional("pg", import("pg"));
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: timeout, // PgDatabase ends the statement on the server, too, also through a pooler.
  });
  return onPostgres(name, new PgDatabase(pool), tables);
}

async function openMySql(url: string, prefix: string, timeout: number): Promise<Connection> {
  const name = nameOf(url);
  const parameters = mysqlParameters(url.replace(/^mariadb:/, "mysql:"));
  const { createPool } = await optional("mysql2", import("mysql2/promise"));
  const pool = createPool({ ...parameters, connectionLimit: 2, connectTimeout: CONNECT_TIMEOUT });
  pool.on("connection", (connection) => limitStatements(connection, timeout));
  const database = new MySqlDatabase(pool);
  return {
    name,
    store: new MySqlStore(database, { prefix }),
    migrate: () => mysql.migrate(database, { prefix }),
    pending: () => mysql.pendingSql(database, prefix),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** The part of a connection of `mysql2` that {@link limitStatements} uses. */
interface Session {
  query(sql: string, onEnd: (error: unknown) => void): unknown;
  readonly stream?: Socket;
}

/**
 * Ends statements on the server: all of MariaDB, those of MySQL that read, and waits for locks. A server that says nothing
 * at all for longer has lost the connection.
 */
function limitStatements(connection: unknown, timeout: number): void {
  const { query, stream } = connection as Session;
  const seconds = Math.ceil(timeout / 1_000);
  query.call(
    connection,
    `SET SESSION lock_wait_timeout = ${seconds}, innodb_lock_wait_timeout = ${seconds} /*M!100101 , max_statement_time = ${seconds} */ /*!50708 , max_execution_time = ${timeout} */`,
    () => {}, // Without them the limit below is left.
  );
  stream?.setTimeout(timeout + SILENCE, () => stream.destroy(new Error(TOO_LONG)));
}

/** A folder that is none would become a new database. */
async function openPGlite(folder: string, tables: Tables): Promise<Connection> {
  if (!existsSync(join(folder, "PG_VERSION"))) throw new RangeError(`--url must be ${TARGETS}`);
  const { PGlite } = await optional("@electric-sql/pglite", import("@electric-sql/pglite"));
  return onPostgres(folder, new PGliteDatabase(await PGlite.create(folder)), tables);
}

function onPostgres(name: string, database: PostgresDatabase, tables: Tables): Connection {
  return {
    name,
    store: new PostgresStore(database, tables),
    migrate: () => postgres.migrate(database, tables),
    pending: () => postgres.pendingSql(database, tables),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

function nameOf(url: string): string {
  if (!URL.canParse(url))
    throw new RangeError("--url is not a valid URL: are special characters percent-encoded?");
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
