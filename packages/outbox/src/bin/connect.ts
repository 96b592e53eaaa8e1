import { existsSync } from "node:fs";
import { join } from "node:path";
import { optional } from "@holdfast/controller/internal";
import * as mysql from "../mysql/migrate.ts";
import { MySqlDatabase } from "../mysql/mysql-database.ts";
import { MySqlStore } from "../mysql/mysql-store.ts";
import { PGliteDatabase } from "../pglite/pglite-database.ts";
import * as postgres from "../postgres/migrate.ts";
import { PgDatabase } from "../postgres/pg-database.ts";
import type { PostgresDatabase } from "../postgres/postgres-database.ts";
import { PostgresStore } from "../postgres/postgres-store.ts";
import { requirePrefix } from "../store/database.ts";
import type { OutboxStore } from "../store/outbox-store.ts";

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

/** Opens the outbox whose tables have this prefix, in the database of a URL or a folder of PGlite. */
export type Connect = (target: string, prefix: string) => Promise<Connection>;

/** How long a server may take to answer, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** @throws RangeError if the target is none; Error that names the driver to install */
export const connect: Connect = async (target, prefix) => {
  requirePrefix("--prefix", prefix);
  const [, scheme] = /^([a-z]+):\/\//.exec(target) ?? [];
  switch (scheme) {
    case "postgres":
    case "postgresql":
      return await openPostgres(target, prefix);
    case "mysql":
    case "mariadb":
      return await openMySql(target, prefix);
    case undefined:
      return await openPGlite(target, prefix);
    default:
      throw new RangeError(`--url must begin with postgres:// or mysql://, got ${scheme}://`);
  }
};

async function openPostgres(url: string, prefix: string): Promise<Connection> {
  const name = nameOf(url);
  const { default: pg } = await optional("pg", import("pg"));
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
  });
  return onPostgres(name, new PgDatabase(pool), prefix);
}

async function openMySql(url: string, prefix: string): Promise<Connection> {
  const name = nameOf(url);
  const { createPool } = await optional("mysql2", import("mysql2/promise"));
  const uri = url.replace(/^mariadb:/, "mysql:");
  const database = new MySqlDatabase(
    createPool({ uri, connectionLimit: 2, connectTimeout: CONNECT_TIMEOUT }),
  );
  return {
    name,
    store: new MySqlStore(database, { prefix }),
    migrate: () => mysql.migrate(database, { prefix }),
    pending: () => mysql.pendingSql(database, prefix),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** A folder that is none would become a new database. */
async function openPGlite(folder: string, prefix: string): Promise<Connection> {
  if (!existsSync(join(folder, "PG_VERSION")))
    throw new RangeError(
      "--url must be a postgres:// or mysql:// URL, or a folder of PGlite, which has a file PG_VERSION",
    );
  const { PGlite } = await optional("@electric-sql/pglite", import("@electric-sql/pglite"));
  return onPostgres(folder, new PGliteDatabase(await PGlite.create(folder)), prefix);
}

function onPostgres(name: string, database: PostgresDatabase, prefix: string): Connection {
  return {
    name,
    store: new PostgresStore(database, { prefix }),
    migrate: () => postgres.migrate(database, { prefix }),
    pending: () => postgres.pendingSql(database, prefix),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

function nameOf(url: string): string {
  if (!URL.canParse(url))
    throw new RangeError("--url is not a valid URL: are special characters percent-encoded?");
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
