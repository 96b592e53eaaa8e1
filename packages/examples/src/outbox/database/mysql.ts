import { randomUUID } from "node:crypto";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import type { Queryable } from "@holdfast/outbox";
import { MySqlDatabase, MySqlStore, migrate } from "@holdfast/outbox/mysql";
import { createConnection, createPool } from "mysql2/promise";
import { type Dialect, LOCK, type OpenDatabase } from "./dialect.ts";
import { CREATE_TABLES } from "./mysql-tables.ts";

/** Contains everything that this program creates on a server, separate from any other outbox. */
const SCHEMA = "holdfast_outbox_demo";

function partOf(server: string): string {
  const url = new URL(server);
  url.pathname = `/${SCHEMA}`;
  return url.href;
}

function open(url: string, connections: number): OpenDatabase {
  const limits = { connectionLimit: connections, connectTimeout: 5_000 };
  const pool = createPool({ uri: url, ...limits });
  const database = new MySqlDatabase(pool);
  const lock = new MySqlLock(pool, { name: LOCK });
  return {
    database,
    store: new MySqlStore(database),
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
  const connection = await createConnection(server);
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${SCHEMA}`);
    // The collation of the outbox, so that ids compare.
    await connection.query(`CREATE DATABASE ${SCHEMA} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  } finally {
    await connection.end();
  }
}

async function visit(server: string, timeout: number): Promise<void> {
  const connection = await createConnection({ uri: server, connectTimeout: timeout });
  connection.on("error", () => undefined); // Only the greeting decides.
  await connection.end();
}

/** Nothing decides by a count of changed rows, which depends on the flags of the connection. */
async function insertOrder(tx: Queryable, order: number, messageId: string): Promise<boolean> {
  await tx.query("INSERT IGNORE INTO demo_order (number, message_id) VALUES (?, ?)", [
    ...[order, messageId],
  ]);
  const [row] = await tx.query("SELECT message_id FROM demo_order WHERE number = ?", [order]);
  return row?.["message_id"] === messageId;
}

async function applyEffect(database: MySqlDatabase, messageId: string): Promise<boolean> {
  const visit = randomUUID();
  return await database.transaction(async (tx) => {
    await tx.query("INSERT IGNORE INTO demo_receipt (message_id, visit) VALUES (?, ?)", [
      ...[messageId, visit],
    ]);
    const [row] = await tx.query("SELECT visit FROM demo_receipt WHERE message_id = ?", [
      messageId,
    ]);
    if (row?.["visit"] !== visit) return false;
    await tx.query("INSERT INTO demo_effect (message_id) VALUES (?)", [messageId]);
    return true;
  });
}

/** MySQL or MariaDB. */
export const mysql: Dialect = {
  name: "MySQL",
  partOf,
  reset,
  visit,
  open,
  insertOrder,
  createTables: CREATE_TABLES,
  parameter: () => "?",
  milliseconds: (column) => column,
};
