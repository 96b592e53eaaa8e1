// A MariaDB server for the contenders that need one: what MYSQL_URL names, or else one of its own, for as
// long as the run lasts.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createConnection } from "mysql2/promise";
import { MARIADB_PROGRAM, MariaServer } from "../services/mariadb.mjs";

/** Commits reach the disk, as they must where somebody's money is. */
const SETTINGS = { "innodb-flush-log-at-trx-commit": 1 };

/** @returns what contenders find it by, what it is, and how to give it back */
export async function openMaria() {
  const { url, of, stop } = await findServer();
  const prefix = `holdfast_bench_${randomUUID().slice(0, 8)}_`;
  const connection = await createConnection(url);
  const [[row]] = await connection.query(
    "SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flushed",
  );
  await connection.end();
  return {
    env: { HOLDFAST_BENCH_MYSQL: url, HOLDFAST_BENCH_MYSQL_PREFIX: prefix },
    facts: `MariaDB ${row.version} (${of}), innodb_flush_log_at_trx_commit ${row.flushed}`,
    async [Symbol.asyncDispose]() {
      await dropDatabases(url, prefix);
      await stop();
    },
  };
}

async function findServer() {
  const given = process.env.MYSQL_URL;
  if (given) return { url: given, of: "MYSQL_URL", stop: async () => {} };
  if (!existsSync(MARIADB_PROGRAM))
    throw new Error("no MariaDB found: set MYSQL_URL, or install mariadb-server");
  const server = await MariaServer.start(undefined, SETTINGS);
  return {
    url: server.url,
    of: "of the distribution",
    stop: () => server[Symbol.asyncDispose](),
  };
}

/** Those that contenders have made. */
async function dropDatabases(url, prefix) {
  const connection = await createConnection(url);
  const [rows] = await connection.query(
    "SELECT schema_name AS name FROM information_schema.schemata WHERE LEFT(schema_name, ?) = ?",
    [prefix.length, prefix],
  );
  for (const { name } of rows) await connection.query(`DROP DATABASE ${connection.escapeId(name)}`);
  await connection.end();
}
