#!/usr/bin/env bash
# Package: knex 3.3.0, drizzle-orm 0.45.4, kysely 0.28.19, postgres 3.4.9 (postgres.js), pg 8.23.1, PostgreSQL 15
# Guess: a transaction whose callback catches the error of a statement resolves in all of them, and nothing is saved,
# because COMMIT of a failed transaction is a ROLLBACK without an error.
# Seen: true of knex and drizzle on pg. kysely and postgres.js reject, postgres.js with the error that was caught. drizzle
# does as its driver does.
. "$(dirname "$0")/lib.sh"
needs psql
server postgres
packages knex@3.3.0 drizzle-orm@0.45.4 kysely@0.28.19 postgres@3.4.9 pg@8.23.1
observe <<'JS'
import { sql as fragment } from "drizzle-orm";
import { drizzle as onPg } from "drizzle-orm/node-postgres";
import { drizzle as onPostgresJs } from "drizzle-orm/postgres-js";
import knex from "knex";
import { Kysely, PostgresDialect, sql as raw } from "kysely";
import pg from "pg";
import postgres from "postgres";

const pool = new pg.Pool({ connectionString: process.env.URL });
await pool.query("create table orders (client text)");
const sql = postgres(process.env.URL);
const drizzled = (db, name) =>
  db.transaction(async (tx) => {
    await tx.execute(fragment`insert into orders values (${name})`);
    await tx.execute(fragment`select 1 / 0`).catch(() => {});
  });
const clients = {
  knex: (name) =>
    knex({ client: "pg", connection: process.env.URL }).transaction(async (tx) => {
      await tx.raw("insert into orders values (?)", name);
      await tx.raw("select 1 / 0").catch(() => {});
    }),
  "drizzle on pg": (name) => drizzled(onPg(pool), name),
  kysely: (name) =>
    new Kysely({ dialect: new PostgresDialect({ pool }) }).transaction().execute(async (tx) => {
      await raw`insert into orders values (${name})`.execute(tx);
      await raw`select 1 / 0`.execute(tx).catch(() => {});
    }),
  "postgres.js": (name) =>
    sql.begin(async (tx) => {
      await tx`insert into orders values (${name})`;
      await tx`select 1 / 0`.catch(() => {});
    }),
  "drizzle on postgres.js": (name) => drizzled(onPostgresJs(sql), name),
};
for (const [name, run] of Object.entries(clients)) {
  const outcome = await run(name).then(() => "resolves", (error) => `rejects with ${error.name}: ${error.message}`);
  const { rowCount } = await pool.query("select from orders where client = $1", [name]);
  console.log(`${name}: ${outcome}; ${rowCount} rows saved`);
}
process.exit();
JS
expect <<'TEXT'
knex: resolves; 0 rows saved
drizzle on pg: resolves; 0 rows saved
kysely: rejects with AbortedTransactionError: Transaction was rolled back instead of committed; 0 rows saved
postgres.js: rejects with PostgresError: division by zero; 0 rows saved
drizzle on postgres.js: rejects with PostgresError: division by zero; 0 rows saved
TEXT
