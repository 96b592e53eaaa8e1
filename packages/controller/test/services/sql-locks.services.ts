import * as mysql from "@holdfast/controller/mysql-lock";
import * as postgres from "@holdfast/controller/postgres-lock";
import { createConnection, createPool } from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
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

describe("MySqlLock on a shared pool", () => {
  const other = new mysql.MySqlLock(mysqlPool, { name: "shared" });
  beforeEach(async () => {
    await other.createTable();
    await mysqlPool.query("DELETE FROM holdfast_lock WHERE name = 'shared'");
  });

  /** Each request of a lock, in the order in which a leader makes them. */
  async function walk(lock: mysql.MySqlLock, between: () => Promise<void>): Promise<void> {
    await between();
    expect(await lock.get(signal)).toBeUndefined();
    await between();
    const { version } = await lock.create(record, signal);
    expect((await other.get(signal))?.version).toBe(version);
    await between();
    const { version: next } = await lock.update(record, version, signal);
    expect((await other.get(signal))?.version).toBe(next);
    const { version: last } = await other.update(record, next, signal);
    await between();
    expect((await lock.get(signal))?.version).toBe(last);
    const { version: newest } = await other.update(record, last, signal);
    await between();
    expect((await lock.list([lock], signal))[0]?.version).toBe(newest);
  }

  it("commits each lease with autocommit off, and sees those of others", async () => {
    const pool = createPool({ uri, connectionLimit: 1 });
    pool.pool.on("connection", (connection) => connection.query("SET autocommit = 0"));
    try {
      const lock = new mysql.MySqlLock(pool, { name: "shared" });
      await lock.createTable();
      await walk(lock, async () => {});
    } finally {
      await pool.end();
    }
  });

  it("refuses a connection without a pool that does not commit", async () => {
    const connection = await createConnection(uri);
    await connection.query("SET autocommit = 0");
    const lock = new mysql.MySqlLock(connection, { name: "shared" });
    for (const request of [
      () => lock.createTable(),
      () => lock.get(signal),
      () => lock.create(record, signal),
      () => lock.update(record, "1", signal),
      () => lock.list([lock], signal),
    ])
      await expect(request()).rejects.toThrow(/^MySqlLock: autocommit is off/);
    await connection.end();
  });

  it("commits no transaction that other code has left open, and goes on afterwards", async () => {
    const pool = createPool({ uri, connectionLimit: 1 });
    await mysqlPool.query("CREATE TABLE IF NOT EXISTS others (n INT) ENGINE = InnoDB");
    try {
      const lock = new mysql.MySqlLock(pool, { name: "shared" });
      await walk(lock, async () => {
        const leaked = await pool.getConnection();
        await leaked.query("START TRANSACTION");
        await leaked.query("INSERT INTO others VALUES (1)");
        leaked.release();
        await expect(lock.get(signal)).rejects.toThrow(
          /^MySqlLock: the connection is inside a transaction/,
        );
      });
      const [rows] = await mysqlPool.query("SELECT n FROM others");
      expect(rows).toEqual([]);
    } finally {
      await pool.end();
    }
  });
});

it("prepares few statements for lists of many lengths", async () => {
  const pool = createPool({ uri, connectionLimit: 1 });
  const locks = Array.from(
    { length: 100 },
    (_, at) => new mysql.MySqlLock(pool, { name: `length-${at}` }),
  );
  await locks[0]?.createTable();
  for (let count = 0; count < 100; count++)
    expect(await locks[0]?.list(locks.slice(0, count + 1), signal)).toHaveLength(count + 1);
  const [rows] = await pool.query("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'");
  expect(Number((rows as { Value: string }[])[0]?.Value)).toBeLessThan(16);
  await pool.end();
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
