import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { MySqlDatabase } from "@holdfast/outbox/mysql";
import { createConnection, createPool, type Pool, type PoolOptions } from "mysql2/promise";
import { expect, it, onTestFinished } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";

const MAX = 5;
const ROUNDS = 8;
/** When a request is given up, in milliseconds. */
const PATIENCE = 150;
const RECORD = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };

/** How a program uses a pool: one request that waits for the lock of a row, which a caller may give up. */
type Use = (pool: Pool) => (signal: AbortSignal) => Promise<unknown>;

const UPDATE = "UPDATE holdfast_lock SET holder = 'b'";

const uses: Readonly<Record<string, Use>> = {
  "MySqlDatabase.query": (pool) => {
    const database = new MySqlDatabase(pool);
    return (signal) => database.query(UPDATE, [], signal);
  },
  "MySqlDatabase.transaction": (pool) => {
    const database = new MySqlDatabase(pool);
    return (signal) => database.transaction((tx) => tx.query(`${UPDATE} WHERE 1 = ?`, [1]), signal);
  },
  "MySqlLock.update": (pool) => {
    const lock = new MySqlLock(pool, { name: "a" });
    return (signal) => lock.update(RECORD, "1", signal);
  },
};

const settings: readonly PoolOptions[] = [{}, { rowsAsArray: true, supportBigNumbers: true }];

it.each(
  Object.entries(uses).flatMap(([name, use]) =>
    settings.map((setting) => [name, setting, use] as const),
  ),
)("%s with %o leaves no request on the server that was given up", async (_, setting, use) => {
  const uri = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  const [holder, watcher] = [await createConnection(uri), await createConnection(uri)];
  const pool = createPool({ uri, connectionLimit: MAX, ...setting });
  onTestFinished(async () => {
    await Promise.all([holder.end(), watcher.end(), pool.end()]);
  });
  const lock = new MySqlLock(holder, { name: "a" });
  await lock.createTable();
  await lock.create(RECORD, new AbortController().signal);
  await holder.query("START TRANSACTION");
  await holder.query("SELECT * FROM holdfast_lock FOR UPDATE");
  const count = async (): Promise<number> => {
    const [rows] = await watcher.query(
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE%'",
    );
    return (rows as unknown[]).length;
  };
  const request = use(pool);
  let running = MAX;
  let given = 0;
  const users = Array.from({ length: MAX }, async () => {
    for (let round = 0; round < ROUNDS; round++)
      await request(AbortSignal.timeout(PATIENCE)).catch(() => {
        given++;
      });
    running--;
  });
  const counts: number[] = [];
  while (running > 0) counts.push(await count());
  await Promise.all(users);
  expect(given).toBe(MAX * ROUNDS);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2 * MAX);
  await expect.poll(count).toBe(0);
});
