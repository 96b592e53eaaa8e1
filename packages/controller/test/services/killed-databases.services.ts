import { onAbort } from "@holdfast/clock";
import { LeaderElector, type LeaderElectorOptions, type ResourceLock } from "@holdfast/controller";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { poll } from "@holdfast/wait";
import { createPool } from "mysql2/promise";
import pg from "pg";
import { describe, it } from "vitest";
import { MariaServer } from "../../../../services/mariadb.mjs";
import { PostgresServer } from "../../../../services/postgres.mjs";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";

const NAME = { name: "killed" };

interface Member extends AsyncDisposable {
  readonly lock: ResourceLock & { createTable(): Promise<void> };
}

interface Kind {
  start(): Promise<{
    readonly server: PostgresServer | MariaServer;
    /** A lock with a pool of its own. */
    connect(): Member;
  }>;
}

const kinds: Record<string, Kind> = {
  PostgreSQL: {
    async start() {
      const server = await PostgresServer.start();
      const connect = (): Member => {
        const pool = new pg.Pool({
          connectionString: server.url,
          connectionTimeoutMillis: 1_000,
          query_timeout: 1_000,
        });
        pool.on("error", () => undefined); // idle connections break
        const lock = new PostgresLock(pool, NAME);
        return { lock, [Symbol.asyncDispose]: () => pool.end() };
      };
      return { server, connect };
    },
  },
  MariaDB: {
    async start() {
      // The default of a server: a commit that is confirmed survives a kill.
      const server = await MariaServer.start(undefined, { "innodb-flush-log-at-trx-commit": "1" });
      const uri = await makeMySqlDatabase(server.url);
      const connect = (): Member => {
        const pool = createPool({ uri, connectTimeout: 1_000 });
        const lock = new MySqlLock(pool, NAME);
        return { lock, [Symbol.asyncDispose]: () => pool.end() };
      };
      return { server, connect };
    },
  },
};

/** Three electors on one server, and a record of who led when. */
class Election {
  readonly tokens: number[] = [];
  holders = 0;
  most = 0;
  lost = 0;
  readonly #stop = new AbortController();
  readonly #runs: Promise<void>[];

  constructor(members: readonly Member[], times: Partial<LeaderElectorOptions>) {
    this.#runs = members.map(({ lock }, index) =>
      new LeaderElector({
        ...times,
        lock,
        identity: `${index}`,
        onError: () => undefined, // the server is away
        lead: async ({ token, signal, lost }) => {
          this.tokens.push(token);
          this.most = Math.max(this.most, ++this.holders);
          await new Promise((resolve) => onAbort(signal, resolve));
          if (lost.aborted) this.lost++;
          this.holders--;
        },
      }).run(this.#stop.signal),
    );
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
  }
}

describe.each(Object.entries(kinds))("an election on %s", (_, kind) => {
  it("keeps its leader when the server is killed and is back within the renew deadline", async ({
    expect,
  }) => {
    const { server, connect } = await kind.start();
    await using _server = server;
    await using a = connect();
    await using b = connect();
    await a.lock.createTable();
    const times = { leaseDuration: 60_000, renewDeadline: 50_000, retryPeriod: 100 };
    const election = new Election([a, b], times);
    await poll(() => election.holders === 1, { timeout: 60_000 });
    const { signal } = new AbortController();
    const before = await a.lock.get(signal);

    await server.kill();
    await server.start();
    const renewed = await poll(
      async () => {
        const found = await a.lock.get(signal);
        return found?.version === before?.version ? undefined : found;
      },
      { timeout: 60_000, onError: () => undefined },
    );
    await poll(async () => (await a.lock.get(signal))?.version !== renewed?.version);

    expect(election).toMatchObject({ holders: 1, most: 1, lost: 0 });
    expect(election.tokens).toHaveLength(1);
    expect(renewed?.record.transitions).toBe(election.tokens[0]);
    await election.stop();
  });

  it("has one leader at most through long outages, and its tokens grow", async ({ expect }) => {
    const { server, connect } = await kind.start();
    await using _server = server;
    await using a = connect();
    await using b = connect();
    await using c = connect();
    await a.lock.createTable();
    const times = { leaseDuration: 2_000, renewDeadline: 1_500, retryPeriod: 100 };
    const election = new Election([a, b, c], times);
    for (const round of [1, 2]) {
      await poll(() => election.holders === 1 && election.tokens.length >= round, {
        timeout: 60_000,
      });
      await (round === 1 ? server.kill() : server.stop());
      await poll(() => election.holders === 0, { timeout: 60_000 });
      await server.start();
    }
    await poll(() => election.holders === 1 && election.tokens.length >= 3, { timeout: 60_000 });
    const { tokens } = election;
    expect(election.most).toBe(1);
    expect(election.lost).toBeGreaterThanOrEqual(2);
    expect(tokens).toEqual([...new Set(tokens)].toSorted((one, other) => one - other));
    await election.stop();
  });
});
