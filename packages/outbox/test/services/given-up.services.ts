import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { PostgresServer } from "../../../../services/postgres.mjs";
import { sample } from "../sample.ts";

const MAX = 10;
const ROUNDS = 6;
/** When a request is given up, in milliseconds. */
const PATIENCE = 150;
const APPLICATION = "savers";
const RECORD = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };

let server: PostgresServer;
let admin: pg.Client;

beforeAll(async () => {
  server = await PostgresServer.start();
  admin = new pg.Client(server.url);
  await admin.connect();
  const pool = new pg.Pool({ connectionString: server.url });
  await using database = new PgDatabase(pool);
  await migrate(database);
  const lock = new PostgresLock(pool, { name: "a" });
  await lock.createTable();
  await lock.create(RECORD, new AbortController().signal);
});

afterAll(async () => {
  await admin.end();
  await server[Symbol.asyncDispose]();
});

/** Something for which requests wait at the server, until it is over. */
interface Obstacle {
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

const holding = (sql: string): Obstacle => ({
  begin: async () => {
    await admin.query("BEGIN");
    await admin.query(sql);
  },
  end: () => admin.query("ROLLBACK"),
});

/** A standby that the server waits for at each COMMIT. */
const standby = (value: string) => async () => {
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${value}'`);
  await admin.query("SELECT pg_reload_conf()");
  await expect
    .poll(async () => (await admin.query("SHOW synchronous_standby_names")).rows)
    .toEqual([{ synchronous_standby_names: value }]);
};

const obstacles: Readonly<Record<string, Obstacle>> = {
  "the message table is locked": holding("LOCK TABLE outbox_message IN ACCESS EXCLUSIVE MODE"),
  "the row of the lock is locked": holding("SELECT FROM holdfast_lock FOR UPDATE"),
  "the synchronous standby is away": { begin: standby("away"), end: standby("") },
};

/** How a program uses a pool: one request, which a caller may give up. */
type Use = (pool: pg.Pool) => (signal: AbortSignal) => Promise<unknown>;

const saves: Use = (pool) => {
  const database = new PgDatabase(pool);
  const store = new PostgresStore(database);
  let number = 0;
  return (signal) =>
    database.transaction(async (tx) => {
      const { id: _, ...message } = sample(++number);
      await store.save(tx, message, 1);
    }, signal);
};

const claims: Use = (pool) => {
  const store = new PostgresStore(new PgDatabase(pool));
  return (signal) => store.claim({ relay: "a", now: 2, until: 3, limit: 1 }, signal);
};

const leads: Use = (pool) => {
  const lock = new PostgresLock(pool, { name: "a" });
  return async (signal) => {
    const found = await lock.get(signal);
    return await lock.update(RECORD, found?.version ?? "", signal);
  };
};

/** Who gives up. */
const patience: Readonly<Record<string, readonly [pg.PoolConfig, () => AbortSignal]>> = {
  "the caller": [{}, () => AbortSignal.timeout(PATIENCE)],
  "the driver": [{ query_timeout: PATIENCE }, () => new AbortController().signal],
  "the server, then the driver": [
    { statement_timeout: PATIENCE, query_timeout: 2 * PATIENCE },
    () => new AbortController().signal,
  ],
};

const rows = (
  [
    ["PgDatabase.transaction", "the message table is locked", saves],
    ["PostgresStore.claim", "the message table is locked", claims],
    ["PgDatabase.transaction", "the synchronous standby is away", saves],
    ["PostgresLock.update", "the synchronous standby is away", leads],
    ["PostgresLock.update", "the row of the lock is locked", leads],
  ] as const
).flatMap(([name, obstacle, use]) =>
  Object.keys(patience).map((who) => [name, obstacle, who, use] as const),
);

it.each(rows)(
  "%s keeps its pool as large as it may be while %s and %s gives up",
  async (_, obstacle, who, use) => {
    const [settings, signalOf] = patience[who] ?? [{}, () => AbortSignal.timeout(PATIENCE)];
    const connectionString = server.url;
    const pool = new pg.Pool({
      connectionString,
      max: MAX,
      application_name: APPLICATION,
      ...settings,
    });
    pool.on("error", () => undefined);
    onTestFinished(async () => void (pool.ended || (await pool.end())));
    const request = use(pool);
    const watcher = new pg.Client(server.url);
    await watcher.connect();
    onTestFinished(() => watcher.end());
    watcher.on("error", () => undefined);
    const counts: number[] = [];
    const count = async (): Promise<number> => {
      const { rows: found } = await watcher.query(
        `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE application_name = '${APPLICATION}'`,
      );
      return (found[0] as { readonly count: number }).count;
    };
    const { begin, end } = obstacles[obstacle] as Obstacle;
    await begin();
    let running = MAX;
    let given = 0;
    const users = Array.from({ length: MAX }, async () => {
      for (let round = 0; round < ROUNDS; round++)
        await request(signalOf()).catch(() => {
          given++;
        });
      running--;
    });
    while (running > 0) counts.push(await count());
    await Promise.all(users);
    await end();
    expect(given).toBeGreaterThan(MAX * (ROUNDS - 1));
    expect(Math.max(...counts)).toBeLessThanOrEqual(MAX + 2);
    await pool.end();
    await expect.poll(count).toBe(0);
  },
);
