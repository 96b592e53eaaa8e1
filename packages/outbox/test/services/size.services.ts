import { migrate, type PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { OutboxStore, Queryable } from "@holdfast/outbox/store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { idOf, sample } from "../sample.ts";
import { connectTo } from "./test-database.ts";

type Row = Readonly<Record<string, unknown>>;

const NOW = Date.now();
const UNTIL = NOW + 60_000;
const LIMIT = 10;

interface Fill {
  readonly due: string;
  readonly status: "pending" | "retrying";
  readonly expired: number;
  readonly key: string;
  readonly parked: string;
  readonly priority: string;
}

const DUE: Fill = {
  due: "now() - interval '1 day' + n * interval '1 ms' - CASE WHEN n % 10 = 0 THEN '0' ELSE '1 hour' END::interval",
  status: "pending",
  expired: 0,
  key: "'key ' || n",
  parked: "false",
  priority: "0",
};

/** Rows of a million messages; `n` counts them. Each tenth belongs to other topics than the rest, behind it. */
const FILLS: Record<string, Fill> = {
  "are due": DUE,
  "wait behind a few": { ...DUE, key: "'key ' || n % 1000", parked: "n > 1000" },
  "are retried later": { ...DUE, due: "now() + n * interval '1 minute'", status: "retrying" },
  "have an expired claim": { ...DUE, expired: 1 },
  "go first, and are due later": {
    ...DUE,
    due: "now() + CASE WHEN n % 100000 < 5000 THEN '-1 hour'::interval ELSE n * interval '1 minute' END",
    priority: "CASE WHEN n % 100000 < 5000 THEN 0 ELSE -2 END",
  },
  "go last": { ...DUE, priority: "CASE WHEN n % 100000 < 5000 THEN 0 ELSE 2 END" },
};

/** A database whose statements tell how many pages they read. */
class Watched {
  pages = 0;
  readonly #inner: PgDatabase;

  constructor(inner: PgDatabase) {
    this.#inner = inner;
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    await this.#explain(text, params);
    return await this.#inner.query(text, params);
  }

  /** In a transaction that is rolled back. */
  async #explain(text: string, params: readonly unknown[]): Promise<void> {
    const rolledBack = new Error("rolled back");
    const work = this.#inner.transaction(async (tx) => {
      const [row = {}] = await tx.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, params);
      const [{ Plan: plan }] = row["QUERY PLAN"] as [{ Plan: Record<string, number> }];
      this.pages += Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
      throw rolledBack;
    });
    await work.catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  }

  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    return await work(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

type Store = OutboxStore<Queryable>;

/** A filter that the relay of one topic in ten uses beside the backlog of the rest. */
const request = { relay: "a", now: NOW, until: UNTIL, limit: LIMIT };
const REQUESTS: Record<string, (store: Store, tx: Queryable) => Promise<unknown>> = {
  claim: (store) => store.claim({ ...request, hasExpired: false }),
  "claim of a topic": (store) =>
    store.claim({ ...request, hasExpired: false, topics: ["topic 1"] }),
  "claim beside a topic": (store) =>
    store.claim({ ...request, hasExpired: false, exceptTopics: ["backlog"] }),
  "claim alone": (store) => store.claim({ ...request, limit: 1, hasExpired: true }),
  "claim alone beside a topic": (store) =>
    store.claim({ ...request, limit: 1, hasExpired: true, exceptTopics: ["backlog"] }),
  "claim alone of a topic": (store) =>
    store.claim({ ...request, limit: 1, hasExpired: true, topics: ["topic 1"] }),
  "empty claim": (store) => store.claim({ ...request, hasExpired: false, topics: ["none"] }),
  look: (store) => store.nextDue(undefined, { hasExpired: false }),
  "look beside a topic": (store) =>
    store.nextDue(undefined, { hasExpired: false, exceptTopics: ["backlog"] }),
  "look for an expired claim": (store) => store.nextDue(undefined, { hasExpired: true }),
  backlog: (store) => store.backlog(),
  oldest: (store) => store.oldest?.() ?? Promise.resolve(),
  save: (store, tx) => store.save(tx, sample(1), NOW),
  "save one that is unique": (store, tx) =>
    store.save(tx, sample(2, { unique: { key: "a", within: 1 } }), NOW),
  cancel: (store) => store.cancel(idOf(3)),
  "take a key": (store, tx) => store.takeOnce(tx, "a", NOW, 1),
  "remove keys": (store) => store.removeOnce(NOW, LIMIT),
  "claim and write": async (store) => {
    const { claims } = await store.claim({ ...request, limit: LIMIT });
    await store.write(claims.map((claim) => ({ type: "delivered", claim, now: NOW })));
  },
};

describe.each(Object.entries(FILLS))("when many messages %s", (_, fill) => {
  let inner: PgDatabase;

  const add = async (from: number, to: number): Promise<void> => {
    const { due, status, expired, key, parked, priority } = fill;
    await inner.query(`
      INSERT INTO outbox_message (id, topic, key, payload, status, created_at, updated_at, due_at,
        failed_attempts, expired_claims, claim_number, parked, priority)
      SELECT gen_random_uuid(), CASE WHEN n % 10 = 0 THEN 'topic ' || n / 10 % 10 ELSE 'backlog' END,
        ${key}, '{}', '${status}', now(), now(), ${due}, 0, ${expired}, ${expired}, ${parked}, ${priority}
      FROM generate_series(${from}, ${to}) n`);
    await inner.query("VACUUM outbox_message");
    if (fill !== DUE) return;
    await inner.query(`
      INSERT INTO outbox_once (kind, key, message_id, since, until)
      SELECT 'message', 'key ' || n, gen_random_uuid(), now(), now() + CASE WHEN n <= 50 THEN '-1 s' ELSE '1 day' END::interval
      FROM generate_series(${from}, ${to}) n`);
    await inner.query("VACUUM outbox_once");
  };

  const costs = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    // Without an order, those that wait behind others are claimed, too.
    const orders = fill.parked === "false" ? (["none", "key"] as const) : (["key"] as const);
    for (const order of orders)
      for (const [name, send] of Object.entries(REQUESTS)) {
        const watched = new Watched(inner);
        const store = new PostgresStore(watched, { order });
        await inner.transaction((tx) => store.save(tx, sample(3), NOW + 1e9));
        await send(store, watched);
        await inner.query("DELETE FROM outbox_message WHERE topic = 'orders.paid'");
        found[`${name}, order ${order}`] = watched.pages;
      }
    if (fill.parked === "false")
      await inner.query("UPDATE outbox_message SET parked = false WHERE parked");
    return found;
  };

  beforeAll(async () => {
    inner = connectTo(await makeDatabase(requiredUrl("DATABASE_URL")));
    await migrate(inner);
    // The server knows of the table what it was when it was empty.
    await inner.query("ALTER TABLE outbox_message SET (autovacuum_enabled = off)");
  });

  afterAll(() => inner[Symbol.asyncDispose]());

  it("a request reads no more than half as many pages again with a million as with 100,000", async () => {
    await add(1, 100_000);
    const before = await costs();
    await add(100_001, 1_000_000);
    const after = await costs();
    const grown = Object.entries(after).filter(
      ([name, pages]) => pages > Math.max(60, 1.5 * (before[name] ?? 0)),
    );
    expect(grown.map(([name, pages]) => [name, before[name], pages])).toEqual([]);
  });
});
