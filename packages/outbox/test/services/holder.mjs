// A process that competes for a lock, and while it leads recovers expired claims, one after another,
// without a look at whether it still leads: the fence alone holds it back. It tells on its standard
// output what it does. Arguments: the kind of lock, its name, the own identity, and when to fall
// asleep as if the machine had stopped: "outside" of a write leaves that to others.
import { randomUUID } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { LeaderElector } from "@holdfast/controller";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { MySqlDatabase, MySqlStore } from "@holdfast/outbox/mysql";
import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import { isStaleFenceError } from "@holdfast/outbox/store";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";

const [kind, name = "", identity = "", asleep] = process.argv.slice(2);
const { DATABASE_URL, MYSQL_URL = "", REDIS_URL = "" } = process.env;

let writes = 0;
/** Sleeps once, in the middle of a transaction. */
const sleepy = (transaction) => (work) =>
  transaction(async (tx) => {
    const value = await work(tx);
    if (asleep === "inside" && ++writes === 20) process.kill(process.pid, "SIGSTOP");
    return value;
  });

// Who sleeps in the middle of a transaction keeps its rows: the server takes them back.

function postgres() {
  const settings = { connectionString: DATABASE_URL, idle_in_transaction_session_timeout: 2_000 };
  const pool = new pg.Pool(settings);
  const database = new PgDatabase(pool);
  const store = new PostgresStore({
    query: database.query.bind(database),
    transaction: sleepy(database.transaction.bind(database)),
    [Symbol.asyncDispose]: async () => undefined,
  });
  return { store, lock: new PostgresLock(pool, { name }) };
}

function mysql() {
  const pool = createPool(MYSQL_URL);
  pool.on("connection", (connection) => connection.query("SET SESSION wait_timeout = 2"));
  const database = new MySqlDatabase(pool);
  const store = new MySqlStore({
    query: database.query.bind(database),
    transaction: database.transaction.bind(database),
    readCommitted: sleepy(database.readCommitted.bind(database)),
    [Symbol.asyncDispose]: async () => undefined,
  });
  return { store, lock: new MySqlLock(pool, { name }) };
}

function redis() {
  return { ...postgres(), lock: new RedisLock(new Redis(REDIS_URL), { key: name }) };
}

const { store, lock } = { postgres, mysql, redis }[kind]();

const say = (/** @type {unknown[]} */ ...words) => process.stdout.write(`${words.join(" ")}\n`);

async function lead({ token }) {
  say("leads", token);
  for (let count = 1; ; count++) {
    try {
      const now = Date.now();
      const { claims } = await store.expired(now, 1);
      const failure = { now, error: `token ${token}`, dueAt: now + 86_400_000 };
      for (const claim of claims)
        if (await store.recover(claim, failure, { name, token })) say("wrote", token, count);
    } catch (error) {
      if (isStaleFenceError(error)) return say("refused", token);
      say("failed", error);
    }
    await realClock.sleep(20);
  }
}

await lock.createTable?.();
const elector = new LeaderElector({
  lock,
  identity: `${identity}-${randomUUID()}`,
  lead,
  leaseDuration: 5_000,
  renewDeadline: 3_500,
  retryPeriod: 200,
  onError: (error) => say("lock", error),
});
await elector.run(new AbortController().signal);
