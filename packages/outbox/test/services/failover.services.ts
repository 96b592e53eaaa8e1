import type { Database, OutboxStore, Queryable } from "@holdfast/outbox/store";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { createPool } from "mysql2/promise";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import { MySqlDatabase, MySqlStore, migrate as migrateMySql } from "../../src/mysql/index.ts";
import { migrate, PgDatabase, PostgresStore } from "../../src/postgres/index.ts";
import { bodyOf } from "../../src/publisher/message-body.ts";
import { idOf, sample } from "../sample.ts";

/** An outbox in a new database, behind a proxy. */
interface World {
  readonly database: Database;
  readonly store: OutboxStore<Queryable>;
  readonly proxy: TcpProxy;
  /** Makes the connection of a request read-only, as that to a primary that has become a standby. */
  readonly demote: string;
}

async function onPostgres(): Promise<World> {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  const proxy = await TcpProxy.to(url);
  const pool = new pg.Pool({
    connectionString: proxy.url,
    max: 1,
    connectionTimeoutMillis: 30_000,
  });
  const database = new PgDatabase(pool);
  onTestFinished(async () => {
    proxy.cut();
    await database[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  await migrate(database);
  const demote = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
  return { database, store: new PostgresStore(database), proxy, demote };
}

async function onMySql(): Promise<World> {
  const url = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  const proxy = await TcpProxy.to(url);
  const database = new MySqlDatabase(
    createPool({ uri: proxy.url, connectionLimit: 1, connectTimeout: 30_000 }),
  );
  onTestFinished(async () => {
    proxy.cut();
    await database[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  await migrateMySql(database);
  const demote = "SET SESSION TRANSACTION READ ONLY";
  return { database, store: new MySqlStore(database), proxy, demote };
}

const request = { relay: "a", now: 2, until: 1_000_000, limit: 10 };

describe.each([
  ["PostgreSQL", onPostgres],
  ["MySQL", onMySql],
])("an outbox on %s", (_, make) => {
  it("saves on another connection after one has become read-only", async () => {
    const { database, store, demote } = await make();
    const save = (number: number) =>
      database.transaction((tx) => store.save(tx, sample(number), 1));
    await database.query(demote);
    await expect(save(1)).rejects.toThrow(/read.only/i);
    await save(2);
    await database.query(demote);
    await expect(store.claim(request)).rejects.toThrow(/read.only/i);
    const { claims } = await store.claim(request);
    expect(claims.map(({ message }) => message.id)).toEqual([idOf(2)]);
  });

  it("claims on another connection after the network has dropped the response silently", async () => {
    const { database, store, proxy } = await make();
    await database.transaction((tx) => store.save(tx, sample(1), 1));
    proxy.deaf = true;
    const lost = withTimeout((signal) => store.claim(request, signal), 200);
    expect(isTimeoutError(await lost.catch((error: unknown) => error))).toBe(true);
    const stuck = withTimeout((signal) => database.transaction(async () => {}, signal), 200);
    await expect(stuck).rejects.toThrow();
    proxy.deaf = false;
    proxy.cut(); // the handshake of the second connection
    // The pool has one connection: it was closed, or this would wait for ever.
    await database.transaction((tx) => store.save(tx, sample(2), 1));
    expect(await store.find(idOf(2))).toBeDefined();
  });
});

describe("settings of a pool", () => {
  it("of types do not turn messages into dead letters, and let migrate() run twice", async () => {
    const url = await makeDatabase(requiredUrl("DATABASE_URL"));
    const parsers: Record<string, (text: string) => unknown> = {
      text: (text) => text,
      bigint: (text) => (/^\d+$/.test(text) ? BigInt(text) : text),
    };
    for (const parse of Object.values(parsers)) {
      const types = { getTypeParser: () => parse };
      await using database = new PgDatabase(new pg.Pool({ connectionString: url, types }));
      await migrate(database);
      const store = new PostgresStore(database);
      const { id } = await database.transaction((tx) =>
        store.save(tx, { topic: "a", key: "b", payload: {} }, 1),
      );
      const { claims, invalid } = await store.claim(request);
      expect([claims.map(({ message }) => message.id), invalid]).toEqual([[id], []]);
      expect(
        await store.write(claims.map((claim) => ({ type: "delivered", claim, now: 3 }))),
      ).toEqual([true]);
      expect(await store.nextDue()).toBeUndefined();
    }
  });

  it("that cannot be read give the claims back, and name the columns", async () => {
    const url = await makeDatabase(requiredUrl("DATABASE_URL"));
    await using good = new PgDatabase(new pg.Pool({ connectionString: url }));
    await migrate(good);
    const store = new PostgresStore(good);
    await good.transaction((tx) => store.save(tx, sample(1), 1));
    const types = { getTypeParser: () => (text: string) => ({ text }) };
    await using bad = new PgDatabase(new pg.Pool({ connectionString: url, types: types as never }));
    const unreadable = { query: bad.query.bind(bad), transaction: bad.transaction.bind(bad) };
    await expect(new PostgresStore(unreadable as never).claim(request)).rejects.toThrow(
      /columns .*created_at.* have values of the wrong type: remove type parsers/,
    );
    const { claims } = await store.claim(request);
    expect(claims.map(({ message }) => message.expiredClaims)).toEqual([0]);
  });

  it("of the isolation level do not make relays and savers fail", async () => {
    const url = await makeDatabase(requiredUrl("DATABASE_URL"));
    const options = "-c default_transaction_isolation=serializable";
    await using database = new PgDatabase(new pg.Pool({ connectionString: url, options, max: 20 }));
    await migrate(database);
    const store = new PostgresStore(database);
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    const saved = await Promise.allSettled(
      numbers.map((number) => database.transaction((tx) => store.save(tx, sample(number), 1))),
    );
    expect(saved.filter(({ status }) => status === "rejected")).toEqual([]);
    const claims = await Promise.all(
      numbers.map(async (number) => {
        const claimed = await store.claim({ ...request, relay: `r${number}`, limit: 1 });
        await store.write(claimed.claims.map((claim) => ({ type: "delivered", claim, now: 3 })));
        return claimed.claims.length;
      }),
    );
    expect(claims.reduce((sum, count) => sum + count)).toBe(60);
  });

  it("let a role start that may not create tables, once they are there", async () => {
    const url = await makeDatabase(requiredUrl("DATABASE_URL"));
    await using owner = new PgDatabase(new pg.Pool({ connectionString: url }));
    await migrate(owner);
    const role = `app_${new URL(url).pathname.slice(1, 20)}`;
    await owner.query(`CREATE ROLE ${role} LOGIN`);
    await owner.query(`REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    await owner.query(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
    );
    await using app = new PgDatabase(
      new pg.Pool({ connectionString: url, options: `-c role=${role}` }),
    );
    await expect(app.query("CREATE TABLE other (id integer)")).rejects.toThrow(/permission denied/);
    expect(await migrate(app)).toEqual([]);
  });
});

it("sends a payload as it was stored, byte for byte", async () => {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  await using database = new PgDatabase(new pg.Pool({ connectionString: url }));
  await migrate(database);
  const store = new PostgresStore(database);
  await database.transaction((tx) => store.save(tx, sample(1), 1));
  const stored = '{"b": 9007199254740993, "a": 10.00, "c": 1e400}';
  await database.query("UPDATE outbox_message SET payload = $1", [stored]);
  const { claims } = await store.claim(request);
  expect(claims.map(({ message }) => bodyOf(message))).toEqual([stored]);
});
