import { deferred } from "@holdfast/kit";
import { migrate, PgDatabase, type PostgresDatabase } from "@holdfast/outbox/postgres";
import pg from "pg";
import { describe, expect, it, vi } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { ListeningRelay, saveIn, testListening, until } from "../postgres/listening.contract.ts";
import { connectTo } from "./test-database.ts";

testListening("PostgreSQL", async () => {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  return { shop: connectTo(url), sender: connectTo(url) };
});

/** The tables of an outbox in a new database, and pools of some sizes for them. */
async function setUp(...sizes: readonly number[]) {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  const shop = connectTo(url);
  await migrate(shop);
  const pools = sizes.map(
    (max) => new pg.Pool({ connectionString: url, max, idleTimeoutMillis: 0 }),
  );
  return { shop, pools };
}

const LISTENERS = "pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";

async function listeners(database: PostgresDatabase): Promise<number> {
  return (await database.query(`SELECT pid FROM ${LISTENERS}`)).length;
}

/** Waits until so many connections listen. */
async function becomeListeners(count: number, database: PostgresDatabase): Promise<void> {
  await until(async () => (await listeners(database)) === count);
}

describe("the connection that listens", () => {
  it("is replaced after it was killed, and the timer covers the gap", async () => {
    const { shop, pools } = await setUp(5);
    await using _ = shop;
    await using sender = new PgDatabase(pools[0] as pg.Pool);
    await using relay = new ListeningRelay(sender, { pollInterval: 50 });
    await relay.listens(shop);
    await becomeListeners(1, shop);

    const { promise: gap, resolve: listenAgain } = deferred<void>();
    const listen = sender.listen.bind(sender);
    vi.spyOn(sender, "listen").mockImplementation(async (...args) => {
      await gap;
      await listen(...args);
    });
    await shop.query(`SELECT pg_terminate_backend(pid) FROM ${LISTENERS}`);
    await until(() => relay.errors.length > 0);
    await becomeListeners(0, shop);
    await saveIn(shop, 101);
    await relay.hasSent(1);

    listenAgain();
    await becomeListeners(1, shop);
    await saveIn(shop, 102);
    await relay.hasSent(2);
    expect(relay.sent).toEqual([101, 102]);
    expect(relay.errors.map(String)).toEqual([expect.stringMatching(/terminat/)]);
  });

  it("is gone after the abort", async () => {
    const { shop, pools } = await setUp(5);
    await using _ = shop;
    const pool = pools[0] as pg.Pool;
    await using sender = new PgDatabase(pool);
    {
      await using relay = new ListeningRelay(sender);
      await relay.listens(shop);
      // On a busy machine a message may be found by the timer before the relay listens.
      await becomeListeners(1, shop);
    }
    // A connection that was being opened comes back when it is there.
    await until(() => pool.totalCount === pool.idleCount);
    await becomeListeners(0, shop);
  });

  it("does not exist with listen: false", async () => {
    const { shop, pools } = await setUp(5);
    await using _ = shop;
    await using sender = new PgDatabase(pools[0] as pg.Pool);
    await using relay = new ListeningRelay(sender, { listen: false, pollInterval: 20 });
    await saveIn(shop, 101);
    await relay.hasSent(1);
    expect(await listeners(shop)).toBe(0);
  });

  it.each([
    [1, 1],
    [2, 2],
  ])("is not the last of a pool of %i with %i relays", async (max, relays) => {
    const { shop, pools } = await setUp(max);
    await using _ = shop;
    await using sender = new PgDatabase(pools[0] as pg.Pool);
    const all = Array.from(
      { length: relays },
      () => new ListeningRelay(sender, { pollInterval: 50 }),
    );
    await saveIn(shop, 101);
    const errors = (): unknown[] => all.flatMap((relay) => relay.errors);
    await until(() => all.some(({ sent }) => sent.length > 0) && errors().length > 0);
    await becomeListeners(max - 1, shop);
    for (const error of errors())
      expect(String(error)).toBe(
        `Error: listening would take the last of ${max} connections of the pool: raise max, or set the relay option listen to false`,
      );
    for (const relay of all) await relay[Symbol.asyncDispose]();
  });
});
