import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { LeaderElector, silentLogger } from "@holdfast/controller";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { save, TABLE, type Tokens } from "../../src/recipes/two-locks.ts";

// A process that leads under two locks stands still while others take over one of them, or both. Processes, servers and time
// are real here.

const PROCESS = fileURLToPath(new URL("two-locks-process.mjs", import.meta.url));
const TIMES = { leaseDuration: 2_000, renewDeadline: 1_200, retryPeriod: 100 };

let urls: [string, string];
let pool: pg.Pool;
let redis: Redis;
const children: ChildProcess[] = [];

const start = (): ChildProcess => {
  const child = fork(PROCESS, urls, { execArgv: [] });
  children.push(child);
  return child;
};
const answer = async <Answer>(child: ChildProcess, name: string): Promise<Answer> => {
  for (;;) {
    const [message] = await once(child, "message");
    if (name in message) return message[name] as Answer;
  }
};

beforeEach(async () => {
  urls = [await makeDatabase(requiredUrl("DATABASE_URL")), requiredUrl("REDIS_URL")];
  pool = new pg.Pool({ connectionString: urls[0] });
  redis = new Redis(urls[1]);
  await redis.del("outer");
  await pool.query(TABLE);
  await pool.query("CREATE TABLE report (text text)");
  await new PostgresLock(pool, { name: "inner" }).createTable();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  redis.disconnect();
  await pool.end();
});

const reports = async () =>
  (await pool.query("SELECT text FROM report")).rows.map((row) => row.text);

/** Takes over one lock, and writes under its token. Ends with the signal. */
async function takeOver(lock: RedisLock | PostgresLock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const elector = new LeaderElector({
      ...{ lock, identity: "test", logger: silentLogger, ...TIMES },
      lead: async ({ token, signal: own }) => {
        expect(await save(pool, { [lock.description]: token }, "new")).toBe(true);
        resolve();
        await new Promise((end) => own.addEventListener("abort", end));
      },
    });
    elector.run(signal).catch(reject);
  });
}

describe("a process that stands still while it has two locks", () => {
  it.each(["both", "outer", "inner"])(
    "writes nothing more after %s were taken over",
    async (which) => {
      const stopped = start();
      const old = await answer<Tokens>(stopped, "tokens");
      stopped.send("first");
      expect(await answer(stopped, "isSaved")).toBe(true);
      stopped.kill("SIGSTOP");
      stopped.send("late");
      const stop = new AbortController();
      if (which === "both") {
        const next = start();
        const tokens = await answer<Tokens>(next, "tokens");
        for (const [lock, token] of Object.entries(tokens))
          expect(token).toBeGreaterThan(old[lock] ?? 0);
        next.send("new");
        expect(await answer(next, "isSaved")).toBe(true);
      } else if (which === "outer")
        await takeOver(new RedisLock(redis, { key: "outer" }), stop.signal);
      else await takeOver(new PostgresLock(pool, { name: "inner" }), stop.signal);
      const late = answer(stopped, "isSaved");
      stopped.kill("SIGCONT");
      expect(await late).toBe(false);
      expect(await reports()).toEqual(["first", "new"]);
      stop.abort();
    },
  );
});

it("refuses every term of a lock whose tokens are compared with those of another kind", async () => {
  const signal = new AbortController().signal;
  const lock = new PostgresLock(pool, { name: "inner" });
  await lock.get(signal);
  const ofPostgres = lock.firstToken;
  const ofLease = Math.floor(ofPostgres / 1_000) + 1; // a LeaseLock counts seconds
  expect(await save(pool, { one: ofPostgres }, "first")).toBe(true);
  expect(await save(pool, { one: ofLease }, "never")).toBe(false);
  expect(await save(pool, { one: ofPostgres, another: ofLease }, "second")).toBe(true);
  expect(await reports()).toEqual(["first", "second"]);
});
