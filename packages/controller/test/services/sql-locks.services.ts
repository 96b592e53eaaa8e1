import * as mysql from "@holdfast/controller/mysql-lock";
import * as postgres from "@holdfast/controller/postgres-lock";
import { createPool } from "mysql2/promise";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { testSqlLock } from "../sql-lock/sql-lock.contract.ts";

const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();
const connectionString = await makeDatabase(requiredUrl("DATABASE_URL"));
const uri = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
const pgPool = new pg.Pool({ connectionString });
const mysqlPool = createPool({ uri });

afterAll(async () => {
  await pgPool.end();
  await mysqlPool.end();
});

describe("PostgresLock on a server", () => {
  testSqlLock({
    make: (options) => new postgres.PostgresLock(pgPool, options),
    run: (sql) => pgPool.query(sql),
    createTableSql: postgres.createTableSql,
  });
});

describe("MySqlLock on a server", () => {
  testSqlLock({
    make: (options) => new mysql.MySqlLock(mysqlPool, options),
    run: (sql) => mysqlPool.query(sql),
    createTableSql: mysql.createTableSql,
  });

  it.each([
    { rowsAsArray: true },
    { nestTables: true } as object,
    { supportBigNumbers: true, bigNumberStrings: true },
    { typeCast: false },
    { namedPlaceholders: true },
    { flags: ["-FOUND_ROWS"] },
    { dateStrings: true, decimalNumbers: true, multipleStatements: true, timezone: "+05:00" },
  ])("works with a pool of the options %j", async (options) => {
    const pool = createPool({ uri, ...options });
    try {
      const lock = new mysql.MySqlLock(pool, { name: JSON.stringify(options) });
      expect(await lock.get(signal)).toBeUndefined();
      expect(lock.firstToken).toBeGreaterThan(1_700_000_000_000);
      const { version } = await lock.create(record, signal);
      await expect(lock.create(record, signal)).rejects.toThrow(/lock/);
      const written = await lock.update(record, version, signal);
      await expect(lock.update(record, version, signal)).rejects.toThrow(/lock/);
      expect(await lock.get(signal)).toEqual({ record, version: written.version });
    } finally {
      await pool.end();
    }
  });
});

describe.each([
  [
    "PostgreSQL",
    async () => {
      const pool = new pg.Pool({ connectionString, max: 1 });
      const demote = () => pool.query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
      const lockOf = (name: string) => new postgres.PostgresLock(pool, { name });
      return { lockOf, demote, end: () => pool.end() };
    },
  ],
  [
    "MariaDB",
    async () => {
      const pool = createPool({ uri, connectionLimit: 1 });
      const demote = () => pool.query("SET SESSION TRANSACTION READ ONLY");
      const lockOf = (name: string) => new mysql.MySqlLock(pool, { name });
      return { lockOf, demote, end: () => pool.end() };
    },
  ],
])("a lock on %s, with a pool of one connection", (server, open) => {
  it("writes on another connection after one has become read-only", async () => {
    const { lockOf, demote, end } = await open();
    const lock = lockOf(`read-only on ${server}`);
    const { version } = await lock.create(record, signal);
    await demote();
    await expect(lock.update(record, version, signal)).rejects.toThrow(/read.only/i);
    const { version: next } = await lock.update(record, version, signal);
    await demote();
    await expect(lockOf("another").create(record, signal)).rejects.toThrow(/read.only/i);
    expect((await lock.get(signal))?.version).toBe(next);
    await end();
  });

  it("needs no right to create a table that exists", async () => {
    const { lockOf, demote, end } = await open();
    await demote();
    await lockOf("a").createTable();
    await end();
  });
});
