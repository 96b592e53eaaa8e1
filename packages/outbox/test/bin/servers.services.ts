import { MySqlStore } from "@holdfast/outbox/mysql";
import { PostgresStore } from "@holdfast/outbox/postgres";
import type { Database, OutboxStore, Queryable } from "@holdfast/outbox/store";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import { connect } from "../../src/bin/connect.ts";
import { problemText } from "../../src/bin/problem.ts";
import { connectToMySql } from "../mysql/connect-to-mysql.ts";
import { connectTo } from "../services/test-database.ts";
import { message } from "./fake-io.ts";
import { runBin } from "./run-bin.ts";

interface Server {
  readonly name: string;
  readonly make: () => Promise<string>;
  readonly open: (url: string) => {
    readonly database: Database;
    readonly store: OutboxStore<Queryable>;
  };
  /** Runs a script as the client of the server does. */
  readonly runScript: (url: string, script: string) => Promise<void>;
  /** Locks the table of messages. */
  readonly lock: (url: string) => Promise<Blocker>;
}

interface Blocker extends AsyncDisposable {
  /** The number of statements that wait for the lock. */
  waiting(): Promise<number>;
}

const SERVERS: readonly Server[] = [
  {
    name: "PostgreSQL",
    make: () => makeDatabase(requiredUrl("DATABASE_URL")),
    open: (url) => {
      const database = connectTo(url);
      return { database, store: new PostgresStore(database) };
    },
    runScript: async (url, script) => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(script);
      await client.end();
    },
    lock: async (url) => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query("BEGIN");
      await client.query("LOCK TABLE outbox_message");
      return {
        waiting: async () => {
          const sql =
            "SELECT FROM pg_locks WHERE NOT granted AND relation = 'outbox_message'::regclass";
          return (await client.query(sql)).rows.length;
        },
        [Symbol.asyncDispose]: () => client.end(),
      };
    },
  },
  {
    name: "MariaDB",
    make: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
    open: (url) => {
      const database = connectToMySql(url);
      return { database, store: new MySqlStore(database) };
    },
    runScript: async (url, script) => {
      await using database = connectToMySql(url);
      for (const statement of script.split(";\n").slice(0, -1)) await database.query(statement);
    },
    lock: async (url) => {
      const connection = await createConnection(url);
      await connection.query("LOCK TABLES outbox_message WRITE");
      return {
        waiting: async () => {
          const [rows] = await connection.query("SHOW PROCESSLIST");
          return (rows as { State: string }[]).filter(({ State }) => /lock/i.test(State)).length;
        },
        [Symbol.asyncDispose]: () => connection.end(),
      };
    },
  },
];

/** Lets messages fail for good. */
async function dieIn({ open }: Server, url: string, count: number): Promise<void> {
  const { database, store } = open(url);
  await using _ = database;
  await database.transaction(async (tx) => {
    for (let n = 1; n <= count; n++) await store.save(tx, message(n), Date.now());
  });
  const now = Date.now();
  const { claims } = await store.claim({ relay: "r", now, until: now + 1, limit: count });
  const failure = { now, error: "HTTP 500", dueAt: undefined };
  await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
}

describe.each(SERVERS)("npx @holdfast/outbox on $name", (server) => {
  const { make } = server;
  it("names migrate without tables, and migrates", async () => {
    const url = await make();
    const missing = await runBin(["dead", "list"], url);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining("run npx @holdfast/outbox migrate"),
    ]);
    const printed = await runBin(["migrate", "--print"], url);
    expect(printed.stdout).toContain(
      "INSERT INTO outbox_migration (number, name) VALUES (1, 'messages');\n",
    );
    expect((await runBin(["migrate"], url)).stdout).toMatch(/^applied 1(, \d+)*\n$/);
    expect((await runBin(["migrate", "--print"], url)).stdout).toBe("");
    expect((await runBin(["migrate"], url)).stdout).toBe("the tables are up to date\n");
    const other = await runBin(["status", "--prefix", "other_"], url);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("name their --prefix")]);
  });

  it("runs the SQL that it prints", async () => {
    const url = await make();
    await using connection = await connect(url, "outbox_");
    const printed = await runBin(["migrate", "--print"], url);
    await server.runScript(url, printed.stdout);
    expect(await connection.pending()).toEqual([]);
    expect(await connection.store.backlog()).toEqual({ pending: 0, retrying: 0, dead: 0 });
  });

  it("replays and discards dead letters in portions", async () => {
    const url = await make();
    await runBin(["migrate"], url);
    await dieIn(server, url, 25);
    const { stdout } = await runBin(["dead", "list", "--limit", "3"], url);
    expect(stdout.split("\n").length).toBe(5);
    const id = String(message(7).id);
    expect((await runBin(["dead", "show", id], url)).stdout).toContain('{"n":7}');
    const replayed = await runBin(
      ["dead", "replay", "--all", "--portion", "4", "--limit", "9"],
      url,
    );
    expect(replayed).toEqual({ code: 0, stdout: "replayed 9\n", stderr: "" });
    const discarded = await runBin(
      ["dead", "discard", "--topic", "orders", "--yes", "--portion", "7"],
      url,
    );
    expect(discarded).toEqual({ code: 0, stdout: "discarded 16\n", stderr: "" });
    const status = await runBin(["status", "--json"], url);
    expect(JSON.parse(status.stdout)).toMatchObject({ pending: 9, retrying: 0, dead: 0 });
  });

  it("ends a statement that takes longer than --timeout, and names the option", async () => {
    const url = await make();
    await runBin(["migrate"], url);
    await using blocker = await server.lock(url);
    const limited = await runBin(["status", "--timeout", "1"], url);
    expect(limited).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "error: a statement took longer than --timeout allows: raise it, or look for what holds a lock\n",
    });
    await expect.poll(() => blocker.waiting()).toBe(0);
  });

  it("ends when the server says nothing for longer than --timeout", async () => {
    const url = await make();
    await runBin(["migrate"], url);
    await using proxy = await TcpProxy.to(url);
    const { store, [Symbol.asyncDispose]: end } = await connect(proxy.url, "outbox_", 1_000);
    await expect.poll(() => store.backlog()).toBeDefined();
    proxy.deaf = true;
    await expect(store.backlog()).rejects.toSatisfy((error) =>
      problemText(error, []).includes("--timeout"),
    );
    proxy.cut();
    await end();
  });

  it("fails without the password if it is wrong, and if no server listens", async () => {
    const wrong = new URL(await make());
    wrong.password = "wr%C3%B6ng-secret";
    const refused = await runBin(["status"], wrong.href);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/^error: .*(password|denied).*\n$/i);
    wrong.port = String(await freePort());
    const away = await runBin(["status"], wrong.href);
    expect([away.code, away.stderr]).toEqual([
      2,
      expect.stringMatching(/^error: .*ECONNREFUSED.*\n$/),
    ]);
    expect(refused.stderr + away.stderr).not.toMatch(/secret/);
  });
});

it.each(["REQUIRED", "VERIFY_CA", "verify_identity"])(
  "npx @holdfast/outbox does not connect without TLS with ssl-mode=%s",
  async (mode) => {
    const url = new URL(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));
    url.hostname = "localhost";
    url.searchParams.set("ssl-mode", mode);
    const { code, stderr } = await runBin(["migrate"], url.href);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/does not support secure connection/i),
    ]);
  },
);
