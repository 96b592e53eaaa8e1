// The databases of suite i, each with what makes its tables and keeps messages in them.
import { randomUUID } from "node:crypto";
import { loadMaria } from "./outbox-load-mysql.mjs";
import { loadPostgres } from "./outbox-load-postgres.mjs";

/** How many messages are saved at once, and how many are sent at once. */
export const WORKERS = 10;

/** A PostgreSQL inside the process, in its memory. */
export async function embedded() {
  const { PGlite } = await import("@electric-sql/pglite");
  const { PGliteDatabase } = await import("@holdfast/outbox/pglite");
  return await postgres({ database: new PGliteDatabase(await PGlite.create()), isNew: true });
}

/** A database of its own on the server that `openPostgres` has found. */
export async function onPostgres(name = randomUUID()) {
  const { default: pg } = await import("pg");
  const { PgDatabase } = await import("@holdfast/outbox/postgres");
  const url = new URL(process.env.HOLDFAST_BENCH_POSTGRES);
  const database = `${process.env.HOLDFAST_BENCH_PREFIX}${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [database]);
  const isNew = rowCount === 0;
  if (isNew) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
  await client.end();
  url.pathname = `/${database}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 2 * WORKERS });
  return await postgres({ database: new PgDatabase(pool), isNew, url: url.href });
}

async function postgres(opened) {
  const { migrate, PostgresStore } = await import("@holdfast/outbox/postgres");
  const storeOf = (options) => new PostgresStore(opened.database, options);
  return { ...opened, store: storeOf(), storeOf, migrate, load: loadPostgres };
}

/** A database of its own on the server that `openMaria` has found. */
export async function onMaria(name) {
  const { createConnection, createPool } = await import("mysql2/promise");
  const { migrate, MySqlDatabase, MySqlStore } = await import("@holdfast/outbox/mysql");
  const url = new URL(process.env.HOLDFAST_BENCH_MYSQL);
  const schema = `${process.env.HOLDFAST_BENCH_MYSQL_PREFIX}${name}`;
  const connection = await createConnection(url.href);
  const [found] = await connection.query(
    "SELECT 1 FROM information_schema.schemata WHERE schema_name = ?",
    [schema],
  );
  const isNew = found.length === 0;
  if (isNew) await connection.query(`CREATE DATABASE ${connection.escapeId(schema)}`);
  await connection.end();
  url.pathname = `/${schema}`;
  const database = new MySqlDatabase(createPool({ uri: url.href, connectionLimit: 2 * WORKERS }));
  const storeOf = (options) => new MySqlStore(database, options);
  return { database, isNew, store: storeOf(), storeOf, migrate, load: loadMaria };
}
