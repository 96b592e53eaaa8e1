import { PostgresLock } from "@holdfast/controller/postgres-lock";
import type { Queryable } from "@holdfast/outbox";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import pg from "pg";
import { type Dialect, LOCK, type OpenDatabase } from "./dialect.ts";
import { CREATE_TABLES } from "./postgres-tables.ts";

/** Contains everything that this program creates on a server, separate from any other outbox. */
const SCHEMA = "holdfast_outbox_demo";

/** The URL of a server on which tables are looked for in the schema of this program. */
function partOf(server: string): string {
  const url = new URL(server);
  url.searchParams.set("options", `-c search_path=${SCHEMA}`);
  // A plus is a space in forms only.
  return url.href.replaceAll("+", "%20");
}

function open(url: string, connections: number): OpenDatabase {
  const limits = { max: connections, connectionTimeoutMillis: 5_000 };
  const pool = new pg.Pool({ connectionString: url, ...limits });
  const database = new PgDatabase(pool);
  const lock = new PostgresLock(pool, { name: LOCK });
  return {
    database,
    store: new PostgresStore(database),
    lock,
    migrate: async () => {
      await migrate(database);
      await lock.createTable();
    },
    applyEffect: (messageId) => applyEffect(database, messageId),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function reset(server: string): Promise<void> {
  await using opened = open(partOf(server), 1);
  await opened.database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await opened.database.query(`CREATE SCHEMA ${SCHEMA}`);
}

async function visit(server: string, timeout: number): Promise<void> {
  const client = new pg.Client({
    connectionString: partOf(server),
    connectionTimeoutMillis: timeout,
  });
  client.on("error", () => undefined); // Only `connect` decides.
  await client.connect();
  await client.end();
}

async function insertOrder(tx: Queryable, order: number, messageId: string): Promise<boolean> {
  const inserted = await tx.query(
    "INSERT INTO demo_order (number, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING number",
    [order, messageId],
  );
  return inserted.length > 0;
}

async function applyEffect(database: Queryable, messageId: string): Promise<boolean> {
  const text = `
    WITH fresh AS (
      INSERT INTO demo_receipt (message_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING message_id
    )
    INSERT INTO demo_effect (message_id) SELECT message_id FROM fresh RETURNING message_id`;
  const applied = await database.query(text, [messageId]);
  return applied.length > 0;
}

/** PostgreSQL: a server, or PGlite, which speaks its protocol. */
export const postgres: Dialect = {
  name: "PostgreSQL",
  partOf,
  reset,
  visit,
  open,
  insertOrder,
  createTables: CREATE_TABLES,
  parameter: (n) => `$${n}`,
  milliseconds: (column) => `(extract(epoch FROM ${column}) * 1000)::float8`,
};
