#!/usr/bin/env bash
# Package: knex 3.3.0, kysely 0.28.19, drizzle-orm 0.45.4, mysql2 3.24.6, MariaDB
# Guess: a transaction whose callback catches a deadlock (1213) rejects, or saves nothing; kysely at least, which finds an
# aborted transaction of PostgreSQL.
# Seen: all three resolve. The server has rolled back the statements before the deadlock, and each statement after it
# commits by itself: half a transaction.
. "$(dirname "$0")/lib.sh"
needs mariadbd
server mariadb
packages knex@3.3.0 kysely@0.28.19 drizzle-orm@0.45.4 mysql2@3.24.6
observe <<'JS'
import { sql as fragment } from "drizzle-orm";
import { drizzle } from "drizzle-orm/mysql2";
import knex from "knex";
import { Kysely, MysqlDialect, sql as raw } from "kysely";
import callbacks from "mysql2";
import mysql from "mysql2/promise";
import { sleep } from "./kit.mjs";

const admin = await mysql.createConnection(process.env.URL);
await admin.query("CREATE DATABASE shop");
await admin.query("USE shop");
await admin.query("CREATE TABLE orders (client varchar(40))");
await admin.query("CREATE TABLE stock (id int PRIMARY KEY, amount int)");
await admin.query("INSERT INTO stock VALUES (1, 9), (2, 9)");
const uri = `${process.env.URL}shop`;

/** A transaction that meets the tested one, and has written more, so that the server ends the tested one. */
async function rival() {
  const connection = await mysql.createConnection(uri);
  await connection.query("START TRANSACTION");
  for (let i = 0; i < 50; i++) await connection.query("INSERT INTO orders VALUES ('rival')");
  await connection.query("UPDATE stock SET amount = 8 WHERE id = 2");
  return async () => {
    await connection.query("UPDATE stock SET amount = 8 WHERE id = 1");
    await connection.query("ROLLBACK");
    connection.destroy();
  };
}
async function work(name, query) {
  await query(`INSERT INTO orders VALUES ('${name}: before')`);
  await query("UPDATE stock SET amount = 7 WHERE id = 1");
  const meet = (await rival())();
  await sleep(300);
  await query("UPDATE stock SET amount = 7 WHERE id = 2").catch(() => {});
  await query(`INSERT INTO orders VALUES ('${name}: after')`);
  await meet;
}
const clients = {
  knex: (name) =>
    knex({ client: "mysql2", connection: uri }).transaction((tx) => work(name, (text) => tx.raw(text))),
  kysely: (name) =>
    new Kysely({ dialect: new MysqlDialect({ pool: callbacks.createPool(uri) }) })
      .transaction()
      .execute((tx) => work(name, (text) => raw.raw(text).execute(tx))),
  drizzle: (name) =>
    drizzle(mysql.createPool(uri)).transaction((tx) => work(name, (text) => tx.execute(fragment.raw(text)))),
};
for (const [name, run] of Object.entries(clients)) {
  const outcome = await run(name).then(() => "resolves", () => "rejects");
  const [rows] = await admin.query("SELECT client FROM orders WHERE client LIKE ?", [`${name}%`]);
  console.log(`${outcome}; saved ${JSON.stringify(rows.map(({ client }) => client))}`);
}
process.exit();
JS
expect <<'TEXT'
resolves; saved ["knex: after"]
resolves; saved ["kysely: after"]
resolves; saved ["drizzle: after"]
TEXT
