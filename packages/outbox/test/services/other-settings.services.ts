import { readFileSync } from "node:fs";
import { MemoryLock, silentLogger, TerminalError } from "@holdfast/controller";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import {
  type Message,
  Outbox,
  type OutboxEvent,
  Recovery,
  Relay,
  Retention,
} from "@holdfast/outbox";
import { migrate, PgDatabase, PostgresOutbox, PostgresStore } from "@holdfast/outbox/postgres";
import { OutboxMetrics } from "@holdfast/outbox/prometheus";
import { RecordingPublisher } from "@holdfast/outbox/testing";
import pg from "pg";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { PgBouncer } from "../../../../services/pgbouncer.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { ClaimStatements } from "../../src/postgres/claim-statements.ts";
import { runBin } from "../bin/run-bin.ts";
import { ListeningRelay, saveIn, until } from "../postgres/listening.contract.ts";
import { numberOf, sample } from "../sample.ts";
import { connectTo, poolTo } from "./test-database.ts";

const { signal } = new AbortController();
const claims = new ClaimStatements("outbox_message", "none");
const RECORD = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };

/** An outbox in a new database, and a role of its own. */
async function setUp() {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  const pool = poolTo(url);
  const owner = new PgDatabase(pool);
  await migrate(owner);
  const role = `role_${new URL(url).pathname.slice(6, 26)}`;
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  const roleUrl = Object.assign(new URL(url), { username: role, password: "secret" }).href;
  return { url, owner, ownerPool: pool, role, roleUrl };
}

describe("a role with INSERT alone", () => {
  it("saves through every door of a producer, and a conflict leaves its transaction open", async () => {
    const { owner, role, roleUrl } = await setUp();
    await using _ = owner;
    await owner.query(`GRANT INSERT ON outbox_message TO ${role}`);
    await using producer = connectTo(roleUrl);
    const store = new PostgresStore(producer);
    const outbox = new Outbox({ store, transaction: producer.transaction.bind(producer) });
    await outbox.transaction(async (tx) => {
      await outbox.save(tx, sample(1));
      expect(await outbox.save(tx, sample(1))).toMatchObject({ isNew: false });
      await outbox.save(tx, sample(2));
      for (const { parts, params } of [3, 3].flatMap((n) => outbox.statements(tx, sample(n))))
        await tx.query(
          parts.reduce((text, part, at) => `${text}$${at}${part}`),
          params,
        );
    });
    await store.notify();
    await expect(producer.query("SELECT id FROM outbox_message")).rejects.toThrow(/denied/);
    await owner.query(`GRANT SELECT (id) ON outbox_message TO ${role}`);
    const saved = await outbox.transaction((tx) => outbox.save(tx, [sample(3), sample(4)]));
    expect(saved.map(({ isNew }) => isNew)).toEqual([false, true]);
    expect(await owner.query("SELECT id FROM outbox_message")).toHaveLength(4);
  });
});

describe("a partitioned table", () => {
  /** The statements of the guide, which make one of the table that `migrate` has made. */
  const guide = readFileSync(new URL("../../../../docs/outbox.md", import.meta.url), "utf8");
  const [, block = ""] = /### Partitions\n.*?```sql\n(.*?)```/s.exec(guide) ?? [];

  async function partitioned() {
    const world = await setUp();
    await world.ownerPool.query(block);
    return world;
  }

  it("takes messages, which are sent in the order of their key, replayed and removed", async () => {
    const { owner, url } = await partitioned();
    await using _ = owner;
    const pool = poolTo(url);
    let isUp = false;
    const respond = ({ failedAttempts, topic }: Message): void => {
      if (topic === "dead" && !isUp) throw new TerminalError("410 Gone");
      if (failedAttempts === 0 && topic !== "dead") throw new Error("busy");
    };
    const publisher = new RecordingPublisher({ respond });
    const common = { pool, order: "key", pollInterval: 50, logger: silentLogger } as const;
    const outbox = new PostgresOutbox({ name: "shop", publisher, ...common });
    expect(await outbox.migrate()).toEqual([]);
    const stop = new AbortController();
    const running = outbox.run(stop.signal);
    await outbox.transaction(async (tx) => {
      for (const number of [1, 2, 3])
        await outbox.save(tx, sample(number, { key: "a", backoff: { duration: 1 } }));
      await outbox.save(tx, sample(4, { topic: "dead" }));
    });
    const isDelivered = (count: number) => async () =>
      (await outbox.store.counts()).delivered === count;
    await until(isDelivered(3));
    await until(async () => (await outbox.deadLetters.list()).length === 1);
    isUp = true;
    expect(await outbox.deadLetters.replay("all")).toBe(1);
    await until(isDelivered(4));
    const confirmed = publisher.confirmed.map(({ id }) => numberOf(id));
    expect(confirmed).toEqual([1, 2, 3, 4]);
    stop.abort();
    await running;
    expect(await outbox.store.removeDelivered(Date.now() + 60_000, 10)).toBe(4);
    await pool.end();
  });

  it("is claimed and removed by index, and a partition of old messages can go", async () => {
    const { owner } = await partitioned();
    await using _ = owner;
    const [store, now] = [new PostgresStore(owner), Date.parse("2026-01-15T00:00:00Z")];
    await owner.query(`
      INSERT INTO outbox_message (id, created_at, updated_at, status, topic, key, payload)
      SELECT gen_random_uuid(), ts, ts, 'delivered', 'a', 'b', '{}'
      FROM generate_series(timestamptz '2025-12-01', '2026-01-14', interval '1 minute') ts`);
    await owner.transaction((tx) => store.save(tx, sample(1), now));
    const plan = await owner.query(
      `EXPLAIN ${claims.claim({ topics: "all", hasExpired: false })}`,
      ["a", now, now, 10, null],
    );
    const text = plan.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect(text).not.toMatch(/Seq Scan on outbox_message/);
    await owner.query("DROP TABLE outbox_message_2025_12");
    const { claims: found } = await store.claim({ relay: "a", now, until: now + 1, limit: 10 });
    expect(found).toHaveLength(1);
  });

  it("recognizes an id that is there, alone and in a list", async () => {
    const { owner } = await partitioned();
    await using _ = owner;
    const store = new PostgresStore(owner);
    await owner.transaction(async (tx) => {
      await store.save(tx, sample(1), 1);
      expect(await store.save(tx, sample(1), 1)).toMatchObject({ isNew: false });
      expect(await store.saveAll(tx, [sample(1), sample(2)], 1)).toMatchObject([
        { isNew: false },
        { isNew: true },
      ]);
    });
    expect(await store.backlog()).toMatchObject({ pending: 2 });
  });
});

describe("row level security", () => {
  async function hidden() {
    const world = await setUp();
    const { owner, ownerPool, role } = world;
    await new PostgresLock(ownerPool, { name: "a" }).createTable();
    await owner.query(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
    );
    await owner.query("ALTER TABLE outbox_message ENABLE ROW LEVEL SECURITY");
    await owner.transaction((tx) => new PostgresStore(owner).save(tx, sample(1), 1));
    return world;
  }

  it.each(["relay", "recovery", "retention"] as const)("is told once by a %s", async (name) => {
    const { owner, roleUrl, role } = await hidden();
    await using _ = owner;
    await using database = connectTo(roleUrl);
    const store = new PostgresStore(database);
    const events: OutboxEvent[] = [];
    const onEvent = (event: OutboxEvent) => void events.push(event);
    const options = { name: "a", store, onEvent, logger: silentLogger };
    const lock = new MemoryLock();
    const publisher = new RecordingPublisher();
    const tasks = {
      relay: () => new Relay({ ...options, publisher, pollInterval: 20 }),
      recovery: () => new Recovery({ ...options, lock, interval: 20, minRound: 0 }),
      retention: () => new Retention({ ...options, lock, interval: 20 }),
    };
    const stop = new AbortController();
    const running = tasks[name]().run(stop.signal);
    const told = () => events.filter(({ type }) => type === "restricted");
    await until(() => told().length > 0);
    stop.abort();
    await running;
    expect(told()).toEqual([
      {
        type: "restricted",
        reason: `row level security of outbox_message applies to the role ${role}, which sees only the messages that the policies allow: give it BYPASSRLS, or a policy FOR ALL USING (true)`,
      },
    ]);
  });

  it("is told by the metrics and by every command, and not if a policy shows all", async () => {
    const { owner, roleUrl, role } = await hidden();
    await using _ = owner;
    await using database = connectTo(roleUrl);
    const register = new Registry();
    new OutboxMetrics({ store: new PostgresStore(database), register });
    expect(await register.metrics()).toContain("\noutbox_restricted 1\n");
    const commands = [["status"], ["dead", "list"], ["dead", "replay", "--all"], ["migrate"]];
    for (const args of commands)
      expect((await runBin(args, roleUrl)).stderr).toMatch(
        /^warning: row level security of outbox_message/,
      );
    const { stdout } = await runBin(["status", "--json"], roleUrl);
    expect(JSON.parse(stdout)).toMatchObject({ pending: 0, restriction: expect.any(String) });

    await owner.query(`CREATE POLICY a ON outbox_message FOR ALL TO ${role} USING (true)`);
    expect(await register.metrics()).toContain("\noutbox_restricted 0\n");
    const { stdout: seen, stderr } = await runBin(["status", "--json"], roleUrl);
    expect([JSON.parse(seen).pending, stderr]).toEqual([1, ""]);
    await owner.query("DROP POLICY a ON outbox_message");
    for (const command of ["SELECT", "UPDATE", "DELETE"]) {
      expect([command, await register.metrics()]).toEqual([
        command,
        expect.stringContaining("\noutbox_restricted 1\n"),
      ]);
      await owner.query(
        `CREATE POLICY ${command}_all ON outbox_message FOR ${command} USING (true)`,
      );
    }
    expect(await register.metrics()).toContain("\noutbox_restricted 0\n");
    await owner.query("CREATE POLICY b ON outbox_message AS RESTRICTIVE USING (topic = 'a')");
    expect(await register.metrics()).toContain("\noutbox_restricted 1\n");
  });

  it("of the table of migrations is refused by migrate", async () => {
    const { owner, roleUrl } = await hidden();
    await using _ = owner;
    await owner.query("ALTER TABLE outbox_migration ENABLE ROW LEVEL SECURITY");
    await using database = connectTo(roleUrl);
    await expect(migrate(database)).rejects.toThrow(
      /rows of outbox_migration cannot be read: row level security applies to the role/,
    );
    expect(await migrate(owner)).toEqual([]); // it does not apply to the owner
  });

  it("of the table of locks is named by a lock whose row it hides", async () => {
    const { owner, ownerPool, role, roleUrl } = await hidden();
    await using _ = owner;
    await new PostgresLock(ownerPool, { name: "a" }).create(RECORD, signal);
    await owner.query("ALTER TABLE holdfast_lock ENABLE ROW LEVEL SECURITY");
    await owner.query("CREATE POLICY a ON holdfast_lock FOR INSERT WITH CHECK (true)");
    await owner.query("CREATE POLICY own ON holdfast_lock FOR SELECT USING (holder = 'b')");
    const pool = poolTo(roleUrl);
    const lock = new PostgresLock(pool, { name: "a" });
    expect(await lock.get(signal)).toBeUndefined();
    await expect(lock.create({ ...RECORD, holder: "b" }, signal)).rejects.toThrow(
      `row a of holdfast_lock: row level security hides it from the role ${role}`,
    );
    await owner.query("CREATE POLICY b ON holdfast_lock FOR SELECT USING (true)");
    const found = await lock.get(signal);
    await expect(lock.create(RECORD, signal)).rejects.toThrow(/lock/);
    await expect(lock.update(RECORD, found?.version ?? "", signal)).rejects.toThrow(
      /row level security hides it/,
    );
    await pool.end();
  });
});

describe("a session that the server ends", () => {
  const settings = "-c idle_in_transaction_session_timeout=50";

  it.each<[string, (tx: { query(text: string): Promise<unknown> }) => Promise<unknown>]>([
    ["a statement", (tx) => tx.query("SELECT 1")],
    ["COMMIT", async () => undefined],
  ])("in an idle transaction is named by the code of %s", async (_, then) => {
    const { url, owner } = await setUp();
    await using _owner = owner;
    const pool = new pg.Pool({ connectionString: url, options: settings });
    await using database = new PgDatabase(pool);
    const lost = database.transaction(async (tx) => {
      const [row] = await tx.query("SELECT pg_backend_pid() AS pid");
      const isThere = () =>
        owner.query("SELECT FROM pg_stat_activity WHERE pid = $1", [row?.["pid"]]);
      await until(async () => (await isThere()).length === 0);
      await then(tx);
    });
    await expect(lost).rejects.toMatchObject({ code: "25P03", message: /idle-in-transaction/ });
    expect(await database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("by an administrator is named by the code, through every door", async () => {
    const { url, owner } = await setUp();
    await using _ = owner;
    const pool = new pg.Pool({ connectionString: url, application_name: "victim" });
    pool.on("error", () => undefined);
    await using database = new PgDatabase(pool);
    await new PostgresLock(pool, { name: "a" }).createTable();
    const doors: Readonly<Record<string, () => Promise<unknown>>> = {
      query: () => database.query("SELECT pg_sleep(60)"),
      transaction: () => database.transaction((tx) => tx.query("SELECT pg_sleep(60)")),
      listen: () => database.listen("a", () => undefined, signal),
      lock: async () => {
        const lock = new PostgresLock(pool, { name: "a" });
        return await owner.transaction(async (tx) => {
          await tx.query("LOCK TABLE holdfast_lock");
          return await lock.get(signal);
        });
      },
    };
    await using other = connectTo(url);
    for (const [name, door] of Object.entries(doors)) {
      let hasEnded = false;
      const ended = door()
        .catch((error: unknown) => error)
        .finally(() => {
          hasEnded = true;
        });
      const WAITING = `pg_stat_activity WHERE application_name = 'victim'
        AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_sleep%' AND state = 'active' OR wait_event_type = 'Lock')`;
      // The session of the door before may be among them for a while.
      await until(async () => {
        await other.query(`SELECT pg_terminate_backend(pid) FROM ${WAITING}`);
        return hasEnded;
      });
      expect([name, await ended]).toMatchObject([name, { code: "57P01" }]);
    }
  });
});

it("never commits a transaction that another part of the program has left open", async () => {
  const { url, owner } = await setUp();
  await using _ = owner;
  await owner.query("CREATE TABLE foreign_work (n integer)");
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const errors: Error[] = [];
  await using database = new PgDatabase(pool, (error) => errors.push(error));
  const lock = new PostgresLock(pool, { name: "a" });
  await lock.createTable();
  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    query: () => database.query("SELECT 1"),
    transaction: () => database.transaction((tx) => tx.query("SELECT 1")),
    readCommitted: () => database.readCommitted((tx) => tx.query("SELECT 1")),
    migrate: () => migrate(database, { prefix: "other_" }),
    listen: async () => {
      const stop = new AbortController();
      await database.listen("a", () => stop.abort(), stop.signal);
    },
    lock: async () => {
      await expect(lock.get(signal)).rejects.toThrow(/another part of the program has left open/);
      await lock.get(signal);
    },
  };
  for (const [name, door] of Object.entries(doors)) {
    const leaking = await pool.connect();
    await leaking.query("BEGIN");
    await leaking.query("INSERT INTO foreign_work VALUES (1)");
    leaking.release();
    await door();
    expect([name, await owner.query("SELECT * FROM foreign_work")]).toEqual([name, []]);
  }
  expect(errors.map(String)).toEqual([
    expect.stringContaining("another part of the program has left open"),
  ]);
});

it("listens again after each end of an idle session, and finds what was saved meanwhile", async () => {
  const { url, owner } = await setUp();
  await using _ = owner;
  const options = "-c idle_session_timeout=300";
  await using sender = new PgDatabase(new pg.Pool({ connectionString: url, options }));
  await using relay = new ListeningRelay(sender);
  for (const number of [101, 102, 103]) {
    await until(() => relay.errors.length >= number - 100);
    await saveIn(owner, number); // while it does not listen
    await relay.hasSent(number - 100);
  }
  for (const error of relay.errors) expect(error).toMatchObject({ code: "57P05" });
});

describe.skipIf(!PgBouncer.isInstalled)(
  `behind PgBouncer${PgBouncer.isInstalled ? "" : ", NOT RUN: pgbouncer is not installed"}`,
  () => {
    it("in transaction mode a relay is told once that it hears nothing, polls, and its metrics say so", async () => {
      const { url, owner } = await setUp();
      await using _ = owner;
      await using bouncer = await PgBouncer.start(url);
      await using sender = connectTo(bouncer.url);
      const register = new Registry();
      const metrics = new OutboxMetrics({ store: new PostgresStore(sender), register });
      const errors: unknown[] = [];
      const onEvent = (event: OutboxEvent): void => {
        metrics.onEvent(event);
        if (event.type === "error") errors.push(event.error);
      };
      await using relay = new ListeningRelay(sender, { pollInterval: 50, onEvent });
      await until(() => errors.length > 0);
      await saveIn(owner, 101);
      await relay.hasSent(1);
      expect(errors.map(String)).toEqual([
        expect.stringContaining(
          "LISTEN hears nothing on this connection, as behind a pooler in transaction mode",
        ),
      ]);
      expect(await register.metrics()).toContain("\noutbox_listening 0\n");
    });

    it("a relay hears through a pool of its own", async () => {
      const { url, owner } = await setUp();
      await using _ = owner;
      const register = new Registry();
      const metrics = new OutboxMetrics({ store: new PostgresStore(owner), register });
      await using direct = connectTo(url);
      await using relay = new ListeningRelay(direct, { onEvent: metrics.onEvent });
      await relay.listens(owner);
      expect(await register.metrics()).toContain("\noutbox_listening 1\n");
    });

    it("settings of a role limit a statement, which settings of the pool cannot", async () => {
      const { owner, role, roleUrl } = await setUp();
      await using _ = owner;
      await owner.query(`ALTER ROLE ${role} SET statement_timeout = '50ms'`);
      await using bouncer = await PgBouncer.start(roleUrl);
      for (const settings of [
        { statement_timeout: 50 },
        { idle_in_transaction_session_timeout: 50 },
      ]) {
        const pool = new pg.Pool({ connectionString: bouncer.url, ...settings });
        await expect(pool.query("SELECT 1")).rejects.toMatchObject({ code: "08P01" });
        await pool.end();
      }
      await using database = connectTo(bouncer.url);
      await expect(database.query("SELECT pg_sleep(60)")).rejects.toMatchObject({ code: "57014" });
    });

    it("a request that was given up is ended on the server", async () => {
      const { url, owner } = await setUp();
      await using _ = owner;
      await using bouncer = await PgBouncer.start(url);
      await using database = connectTo(bouncer.url);
      const SLEEPING =
        "pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'";
      const stop = new AbortController();
      const lost = database.query("SELECT pg_sleep(600)", [], stop.signal);
      await until(async () => (await owner.query(`SELECT FROM ${SLEEPING}`)).length === 1);
      stop.abort();
      await expect(lost).rejects.toBe(stop.signal.reason);
      await until(async () => (await owner.query(`SELECT FROM ${SLEEPING}`)).length === 0);
    });

    it("in session mode a relay hears a producer behind the same pooler", async () => {
      const { url, owner } = await setUp();
      await using _ = owner;
      await using bouncer = await PgBouncer.start(url, "session");
      await using sender = connectTo(bouncer.url);
      await using shop = connectTo(bouncer.url);
      await using relay = new ListeningRelay(sender);
      await relay.listens(shop);
      await saveIn(shop, 101);
      await relay.hasSent(1);
      expect(relay.errors).toEqual([]);
    });

    it("in statement mode a save is refused", async () => {
      const { url, owner } = await setUp();
      await using _ = owner;
      await using bouncer = await PgBouncer.start(url, "statement");
      await using shop = connectTo(bouncer.url);
      await expect(saveIn(shop, 101)).rejects.toMatchObject({ code: "08P01" });
    });
  },
);
