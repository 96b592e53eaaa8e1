// A process that competes for a lock, and while it leads counts orphans as failed, one after another,
// without a look at whether it still leads: the fence alone holds it back. It tells on its standard
// output what it does. Arguments: the kind of lock, its name, the own identity, and when to fall
// asleep as if the machine had stopped: "outside" of a write leaves that to others.
import { randomUUID } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { LeaderElector } from "@holdfast/controller";
import { Redis } from "ioredis";
import pg from "pg";
import { PgDatabase } from "../../../dist/outbox/database/pg-database.js";
import { PostgresLock } from "../../../dist/outbox/lock/postgres-lock.js";
import { RedisLock } from "../../../dist/outbox/lock/redis-lock.js";
import { PostgresStore } from "../../../dist/outbox/store/postgres-store.js";
import { isStaleFenceError } from "../../../dist/outbox/store/stale-fence-error.js";

const [kind, name = "", identity = "", asleep] = process.argv.slice(2);
const { DATABASE_URL, REDIS_URL = "" } = process.env;

const database = new PgDatabase(
  new pg.Pool({
    connectionString: DATABASE_URL,
    // Who sleeps in the middle of a transaction keeps its rows: the server takes them back.
    idle_in_transaction_session_timeout: 2_000,
  }),
);
let writes = 0;
/** Sleeps once, in the middle of a transaction. */
const sleepy = {
  query: database.query.bind(database),
  transaction: (work) =>
    database.transaction(async (tx) => {
      const value = await work(tx);
      if (asleep === "inside" && ++writes === 20) process.kill(process.pid, "SIGSTOP");
      return value;
    }),
  [Symbol.asyncDispose]: async () => undefined,
};
const store = new PostgresStore(sleepy);
const lock =
  kind === "redis"
    ? new RedisLock(new Redis(REDIS_URL), { key: name })
    : new PostgresLock(database, name);

const say = (/** @type {unknown[]} */ ...words) => process.stdout.write(`${words.join(" ")}\n`);

async function lead({ token }) {
  say("leads", token);
  for (let count = 1; ; count++) {
    try {
      const now = Date.now();
      const { claims } = await store.orphans(now, 1);
      const failure = { now, error: `token ${token}`, nextScheduleTime: now + 86_400_000 };
      for (const claim of claims)
        if (await store.releaseOrphan(claim, failure, { name, token })) say("wrote", token, count);
    } catch (error) {
      if (isStaleFenceError(error)) return say("refused", token);
      say("failed", error);
    }
    await realClock.sleep(20);
  }
}

const elector = new LeaderElector({
  ...{ lock, identity: `${identity}-${randomUUID()}`, lead },
  ...{ leaseDuration: 5_000, renewDeadline: 3_500, retryPeriod: 200 },
  onError: (error) => say("lock", error),
});
await elector.run(new AbortController().signal);
