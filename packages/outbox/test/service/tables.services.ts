import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { silentLogger } from "@holdfast/controller";
import type { OutboxService, OutboxServiceOptions } from "@holdfast/outbox";
import * as mysql from "@holdfast/outbox/mysql";
import * as postgres from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import { RecordingPublisher } from "@holdfast/outbox/testing";
import { createPool } from "mysql2/promise";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { runBin } from "../bin/run-bin.ts";
import { until } from "../postgres/listening.contract.ts";
import { idOf, sample } from "../sample.ts";
import { testStore } from "../store/outbox-store.contract.ts";

const exec = promisify(execFile);
const HOUR = 3_600_000;
const SCHEMA = "Shop-1";
/** The longest one, with digits. */
const PREFIX = `v2_${"x".repeat(27)}`;

/** A database whose search_path has nothing: each name without a schema is an error. */
async function withoutPath(): Promise<string> {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  const pool = poolTo(url);
  await pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = ''`);
  await pool.end();
  return url;
}

function poolTo(url: string): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: 5_000 });
}

function open(url: string, options: Partial<postgres.PostgresOutboxOptions>) {
  const pool = poolTo(url);
  onTestFinished(() => pool.end());
  const common = { name: "shop", pollInterval: HOUR, logger: silentLogger };
  return new postgres.PostgresOutbox({ ...common, pool, ...options });
}

/** Runs until the test is over. */
function start(outbox: OutboxService<Queryable>): void {
  const stop = new AbortController();
  const running = outbox.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
}

const save = (outbox: OutboxService<Queryable>, ...numbers: number[]): Promise<void> =>
  outbox.transaction(async (tx) => {
    for (const number of numbers) await outbox.save(tx, sample(number, { key: "order-1" }));
  });

describe("tables in a schema that is not on search_path", () => {
  it("are made, used by every part, listened to and shown by the commands", async () => {
    const url = await withoutPath();
    const publisher = new RecordingPublisher();
    const tables = { schema: SCHEMA, prefix: PREFIX };
    const sends = open(url, { ...tables, publisher, order: "key" });
    const saves = open(url, tables);
    const applied = await Promise.all([sends.migrate(), saves.migrate()]);
    expect(applied.filter((numbers) => numbers.length > 0)).toHaveLength(1);
    expect(await saves.migrate()).toEqual([]);

    const now = Date.now();
    await save(saves, 1);
    start(sends);
    await expect.poll(() => publisher.attempts).toHaveLength(1);
    await expect.poll(() => sends.status().state).toBe("running");
    // Only a notification leads a relay to those that another process saves.
    let number = 1;
    await until(async () => {
      await save(saves, ++number);
      return publisher.attempts.length > 3;
    });

    const dead = open(url, { ...tables, prefix: "dead_", publisher, maxAttempts: 1 });
    await dead.migrate();
    await dead.transaction((tx) => dead.save(tx, { topic: "a", key: "b", payload: {} }));
    const { claims } = await dead.store.claim({
      relay: "a",
      now: now + HOUR,
      until: 9e12,
      limit: 1,
    });
    const [claim] = claims;
    if (claim === undefined) throw new Error("nothing was claimed");
    const failure = { now, error: "refused", dueAt: undefined };
    await dead.store.write([{ type: "failed", claim, failure }]);
    const args = ["--prefix", "dead_", "--schema", SCHEMA];
    expect(await runBin(["dead", "replay", "--all", ...args], url)).toMatchObject({
      stdout: "replayed 1\n",
      stderr: "",
    });
    expect((await runBin(["migrate", ...args], url)).stdout).toBe("the tables are up to date\n");
    const { stdout: printed } = await runBin(["migrate", "--print", "--schema", "other"], url);
    await exec("psql", ["-qv", "ON_ERROR_STOP=1", "-c", printed, url]);
    expect(await open(url, { schema: "other" }).migrate()).toEqual([]);
    const found = await poolRows(
      url,
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    expect(found).toEqual([]);
  });

  it("have their messages taken over when a process has died", async () => {
    const publisher = new RecordingPublisher();
    const outbox = open(await withoutPath(), { schema: SCHEMA, publisher, pollInterval: 100 });
    await outbox.migrate();
    await save(outbox, 1);
    const now = Date.now();
    await outbox.store.claim({ relay: "dead", now: now + 1, until: now + 2, limit: 1 });
    start(outbox);
    await expect.poll(() => publisher.attempts).toHaveLength(1);
  });

  it("do not wake or show those of another schema", async () => {
    const url = await withoutPath();
    const [one, other] = [open(url, { schema: "one" }), open(url, { schema: "other" })];
    for (const outbox of [one, other]) await outbox.migrate();
    const heard: string[] = [];
    const stop = new AbortController();
    const listening = [one, other].map((outbox, at) =>
      outbox.store.listen?.(() => heard.push(`${at}`), stop.signal),
    );
    onTestFinished(async () => {
      stop.abort();
      await Promise.all(listening);
    });
    await expect.poll(() => heard.sort()).toEqual(["0", "1"]); // They listen.
    await save(one, 1);
    await expect.poll(() => heard).toEqual(["0", "1", "0"]);
    await other.store.notify?.();
    await expect.poll(() => heard).toEqual(["0", "1", "0", "1"]);
    expect([await one.backlog(), await other.backlog()]).toMatchObject([
      { pending: 1 },
      { pending: 0 },
    ]);
  });

  it("need no right to create a schema that is there", async () => {
    const url = await withoutPath();
    const name = new URL(url).pathname.slice(6, 26);
    await poolRows(url, `CREATE ROLE role_${name} LOGIN PASSWORD 'secret'`);
    await poolRows(url, `CREATE SCHEMA "${SCHEMA}" AUTHORIZATION role_${name}`);
    const own = Object.assign(new URL(url), { username: `role_${name}`, password: "secret" }).href;
    expect(await open(own, { schema: SCHEMA }).migrate()).not.toEqual([]);
    await expect(open(own, { schema: "missing" }).migrate()).rejects.toThrow(/permission denied/);
  });

  let pool: pg.Pool;
  let url: string | undefined;
  testStore("PostgresStore", async ({ order }) => {
    const tables = { schema: SCHEMA, prefix: "p1_" };
    if (url === undefined) {
      url = await withoutPath();
      pool = poolTo(url);
      await postgres.migrate(new postgres.PgDatabase(pool), tables);
    }
    await pool.query(
      `TRUNCATE ${["message", "fence", "once", "topic"].map((table) => `"${SCHEMA}".p1_${table}`)}`,
    );
    const database = new postgres.PgDatabase(pool);
    return {
      store: new postgres.PostgresStore(database, { ...tables, order }),
      transaction: (work) => database.transaction(work),
    };
  });
});

async function poolRows(url: string, text: string): Promise<readonly unknown[]> {
  const pool = poolTo(url);
  const { rows } = await pool.query(text);
  await pool.end();
  return rows;
}

interface Tool {
  readonly make: () => Promise<string>;
  /** Runs a text as a tool that knows nothing of the outbox does. */
  readonly apply: (url: string, sql: string) => Promise<unknown>;
  readonly sql: (options: object) => string;
  readonly open: (url: string, options: OutboxServiceOptions) => OutboxService<Queryable>;
}

const openMySql: Tool["open"] = (url, options) => {
  const pool = createPool(url);
  onTestFinished(() => pool.end());
  return new mysql.MySqlOutbox({ ...options, pool });
};

const TOOLS: Record<string, Tool> = {
  "psql, in one transaction": {
    make: withoutPath,
    apply: (url, sql) => exec("psql", ["-qXv", "ON_ERROR_STOP=1", "-c", sql, url]),
    sql: (options) => postgres.migrationSql({ schema: SCHEMA, ...options }),
    open: (url, options) => open(url, { ...options, schema: SCHEMA }),
  },
  "psql, each statement by itself": {
    make: () => makeDatabase(requiredUrl("DATABASE_URL")),
    async apply(url, sql) {
      const running = exec("psql", ["-qXv", "ON_ERROR_STOP=1", "-f", "-", url]);
      running.child.stdin?.end(sql);
      await running;
    },
    sql: (options) => postgres.migrationSql({ schema: "shop", ...options }),
    open: (url, options) => open(url, { ...options, schema: "shop" }),
  },
  "psql, without a schema": {
    make: () => makeDatabase(requiredUrl("DATABASE_URL")),
    apply: (url, sql) => exec("psql", ["-qXv", "ON_ERROR_STOP=1", "-c", sql, url]),
    sql: postgres.migrationSql,
    open: (url, options) => open(url, options),
  },
  mysql: {
    make: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
    async apply(url, sql) {
      const { hostname, port, username, password, pathname } = new URL(url);
      const args = [
        "-h",
        hostname,
        "-P",
        port,
        "-u",
        username,
        `--password=${password}`,
        "--protocol=tcp",
      ];
      await exec("mysql", [...args, pathname.slice(1), "-e", sql]);
    },
    sql: mysql.migrationSql,
    open: openMySql,
  },
};

describe.each(Object.entries(TOOLS))(
  "migrationSql, applied by %s",
  (_, { make, apply, sql, open: openIn }) => {
    it.each([false, true])(
      "after an older version: %s, leaves nothing for migrate to do",
      async (isLater) => {
        const url = await make();
        const prefix = "own2_";
        if (isLater) await apply(url, firstMigration(sql({ prefix })));
        await apply(url, sql(isLater ? { prefix, from: 2 } : { prefix }));
        const publisher = new RecordingPublisher();
        const outbox = openIn(url, {
          name: "shop",
          publisher,
          prefix,
          logger: silentLogger,
        } as never);
        expect(await outbox.migrate()).toEqual([]);
        start(outbox);
        await save(outbox, 1, 2);
        await expect.poll(async () => (await outbox.store.find(idOf(2)))?.status).toBe("delivered");
      },
    );
  },
);

/** What a version with the first migration alone has printed. */
function firstMigration(all: string): string {
  const end = "VALUES (1, 'messages');";
  return all.slice(0, all.indexOf(end) + end.length);
}
