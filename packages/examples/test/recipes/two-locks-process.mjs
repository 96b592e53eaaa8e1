// A process that leads under a lock of Redis and one of PostgreSQL. It sends the tokens of its term, and writes for each message
// that it gets, under the tokens that it sent last: as code does that asks no signal.

import { silentLogger } from "@holdfast/controller";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { Redis } from "ioredis";
import pg from "pg";
import { save, underBoth } from "../../dist/recipes/two-locks.js";

const [, , postgres, redis] = process.argv;
const pool = new pg.Pool({ connectionString: postgres });
const outer = new RedisLock(new Redis(redis), { key: "outer" });
const inner = new PostgresLock(pool, { name: "inner" });
let last;
const work = async ({ tokens, signal }) => {
  last = tokens;
  process.send({ tokens });
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
};
process.on("message", async (report) => process.send({ isSaved: await save(pool, last, report) }));
process.once("disconnect", () => process.exit());
const times = { leaseDuration: 2_000, renewDeadline: 1_200, retryPeriod: 100 };
const options = { identity: `${process.pid}`, logger: silentLogger, ...times };
await underBoth({ outer, inner }, work, options).run(new AbortController().signal);
