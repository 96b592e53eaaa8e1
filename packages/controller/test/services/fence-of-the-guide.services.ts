// The program with a fence in docs/leader-election.md, as replicas of a first roll-out: all start at once, without a table.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { LeaderElector, type LeaderElectorOptions } from "@holdfast/controller";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { poll } from "@holdfast/wait";
import pg from "pg";
import { expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";

const guide = readFileSync(new URL("../../../../docs/leader-election.md", import.meta.url), "utf8");

/** The block of the guide as a function of what it imports, and of the signal that it makes. */
function program(): (...given: unknown[]) => Promise<void> {
  const blocks = [...guide.matchAll(/```ts[^\n]*\n(.*?)```/gs)].map(([, code = ""]) => code);
  const [code, ...others] = blocks.filter((block) => block.includes("INSERT INTO fence"));
  if (code === undefined || others.length > 0)
    throw new Error("the guide has one block with a fence");
  const body = code.replace(/^import .*$/gm, "").replace("new AbortController().signal", "signal");
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const names = ["pg", "PostgresLock", "LeaderElector", "hostname", "randomUUID", "signal"];
  return AsyncFunction(...names, body) as (...given: unknown[]) => Promise<void>;
}

/** Runs the program of the guide in replicas that start at once, until one has written its token. */
async function runReplicas(connectionString: string, owner: pg.Pool): Promise<void> {
  const run = program();
  const stop = new AbortController();
  const pools: pg.Pool[] = [];
  const given = {
    Pool: class extends pg.Pool {
      constructor(options: pg.PoolConfig) {
        super({ ...options, connectionString, max: 2 });
        pools.push(this);
      }
    },
  };
  class Elector extends LeaderElector {
    constructor(options: LeaderElectorOptions) {
      super({ ...options, once: true });
    }
  }
  const args = [given, PostgresLock, Elector, hostname, randomUUID, stop.signal];
  const replicas = Array.from({ length: 6 }, () => run(...args));
  const ended = Promise.allSettled(replicas);
  const tokens = async () =>
    (await owner.query("SELECT token FROM fence").catch(() => ({ rows: [] }))).rows;
  await Promise.race([
    poll(async () => (await tokens()).length === 1, { timeout: 60_000, backoff: { duration: 20 } }),
    Promise.all(replicas).catch(() => {}),
  ]);
  stop.abort();
  const failures = (await ended).flatMap((end) =>
    end.status === "rejected" ? [String(end.reason)] : [],
  );
  expect(failures).toEqual([]);
  await Promise.all([owner, ...pools].map((pool) => pool.end()));
}

it("starts in six replicas at once, ten times, with a token in the end", {
  timeout: 300_000,
}, async () => {
  for (let round = 0; round < 10; round++) {
    const connectionString = await makeDatabase(requiredUrl("DATABASE_URL"));
    const owner = new pg.Pool({ connectionString });
    await owner.query("CREATE TABLE session (expires_at timestamptz)");
    await runReplicas(connectionString, owner);
  }
});

it("runs as a role that may not create tables once they are there", async () => {
  const url = new URL(await makeDatabase(requiredUrl("DATABASE_URL")));
  const owner = new pg.Pool({ connectionString: url.href });
  const role = `role_${randomUUID().replaceAll("-", "")}`;
  await owner.query("CREATE TABLE session (expires_at timestamptz)");
  await owner.query("CREATE TABLE fence (name text PRIMARY KEY, token float8 NOT NULL)");
  await new PostgresLock(owner, { name: "janitor" }).createTable();
  await owner.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await owner.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  Object.assign(url, { username: role, password: "secret" });
  await runReplicas(url.href, owner);
});
