import { randomUUID } from "node:crypto";
import { MySqlDatabase, MySqlStore, migrate } from "@holdfast/outbox/mysql";
import type {
  ClaimFilter,
  DeadLetterSelection,
  MessageOrder,
  Queryable,
} from "@holdfast/outbox/store";
import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { sample } from "../sample.ts";

const T = 1_700_000_000_000;
const MANY = 10_000;
const FEW = 10;
const request = { relay: "a", now: T, until: T + 1e6, limit: FEW };
const failure = { now: T, error: "e", dueAt: T };

/** What a store of one connection has asked of the server. */
interface World extends AsyncDisposable {
  readonly store: MySqlStore;
  readonly database: MySqlDatabase;
  /** The rows that a call reads, with the steps in indexes that find none. */
  readsOf(call: () => Promise<unknown>): Promise<number>;
  /** The locks of rows that a call holds at its end. */
  locksOf(call: (store: MySqlStore) => Promise<unknown>): Promise<number>;
  /** The statements that the connection has prepared. */
  prepared(): Promise<number>;
}

async function open(order: MessageOrder = "none", inSession = ""): Promise<World> {
  const uri = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  const database = new MySqlDatabase(createPool({ uri, connectionLimit: 1 }));
  await migrate(database);
  if (inSession !== "") await database.query(inSession);
  const status = async (name: string): Promise<number> => {
    const rows = await database.query(`SHOW SESSION STATUS LIKE '${name}'`);
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  return {
    database,
    store: new MySqlStore(database, { order }),
    async readsOf(call) {
      await call(); // A connection opens each table once.
      await database.query("FLUSH STATUS");
      await call();
      return await status("Handler_read%");
    },
    async locksOf(call) {
      let locks = 0;
      const watch = async <Value>(tx: Queryable, work: (tx: Queryable) => Promise<Value>) => {
        const value = await work(tx);
        const [row] = await tx.query(
          "SELECT trx_rows_locked AS locks FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = CONNECTION_ID()",
        );
        locks = Number(row?.["locks"] ?? 0);
        return value;
      };
      await call(
        new MySqlStore(
          {
            query: (...all) => database.query(...all),
            transaction: (work, signal) => database.transaction((tx) => watch(tx, work), signal),
            readCommitted: (work, signal) =>
              database.readCommitted((tx) => watch(tx, work), signal),
            async [Symbol.asyncDispose]() {},
          },
          { order },
        ),
      );
      return locks;
    },
    prepared: () => status("Com_stmt_prepare"),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const DIGITS = `(${Array.from({ length: 10 }, (_, i) => `SELECT ${i} AS d`).join(" UNION ALL ")})`;

/** Numbers from 0, up to a million. */
const numbers = (count: number): string => `(
  SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d AS n
  FROM ${["a", "b", "c", "e", "f", "g"].map((name) => `${DIGITS} ${name}`).join(", ")}
  HAVING n < ${count}) AS numbers`;

/** Saves many messages at once: columns and their values, which may use `n`. */
async function fill(
  database: MySqlDatabase,
  count: number,
  columns: Readonly<Record<string, string | number>>,
): Promise<void> {
  const all = {
    ...{ id: "UUID()", topic: "'a'", "`key`": "CONCAT('k', n)", headers: "'{}'", payload: "'{}'" },
    ...{ created_at: T, updated_at: T, due_at: T },
    ...columns,
  };
  await database.query(
    `INSERT INTO outbox_message (${Object.keys(all).join(", ")})
     SELECT ${Object.values(all).join(", ")} FROM ${numbers(count)} ORDER BY n`,
  );
}

const dead = { status: "'dead'", due_at: "NULL" };

describe("beside many messages of another kind, a call reads and locks those that it takes", () => {
  const filters: [string, ClaimFilter, Record<string, string | number>][] = [
    ["of a topic", { topics: ["b"] }, {}],
    ["of two topics", { topics: ["b", "c"] }, {}],
    ["of all topics but one", { exceptTopics: ["a"] }, {}],
    ["of a topic, but for another", { topics: ["a", "b"], exceptTopics: ["a"] }, {}],
    ["without an expired claim", { hasExpired: false }, { expired_claims: 1 }],
    ["with an expired claim", { hasExpired: true, topics: ["c"] }, {}],
    ["with one or without", { topics: ["b", "c"] }, { failed_attempts: 1, status: "'retrying'" }],
  ];

  for (const order of ["none", "key"] as const)
    it.each(filters)(`order ${order}: claims and looks %s`, async (_, filter, foreign) => {
      await using world = await open(order);
      await fill(world.database, MANY, { ...foreign, due_at: T - 1 });
      await fill(world.database, 3 * FEW, { topic: "'b'", "`key`": "CONCAT('b', n)" });
      await fill(world.database, 3 * FEW, {
        ...{ topic: "'c'", "`key`": "CONCAT('c', n)", expired_claims: 1 },
      });
      expect(await world.readsOf(() => world.store.nextDue(undefined, filter))).toBeLessThan(600);
      const claim = (store: MySqlStore) => store.claim({ ...request, ...filter });
      expect(await world.locksOf(claim)).toBeLessThanOrEqual(FEW);
      expect(await world.readsOf(() => claim(world.store))).toBeLessThan(1_000);
    });

  it("order key: beside many that wait for an earlier one of their key", async () => {
    await using world = await open("key");
    await fill(world.database, MANY, { "`key`": "'hot'", due_at: T - 1 });
    await fill(world.database, 3 * FEW, { "`key`": "CONCAT('b', n)" });
    const claim = (store: MySqlStore) => store.claim({ ...request, hasExpired: false });
    expect(await world.locksOf(claim)).toBeLessThanOrEqual(FEW);
    expect(await world.readsOf(() => claim(world.store))).toBeLessThan(1_000);
    expect(await world.readsOf(() => world.store.nextDue())).toBeLessThan(1_000);
  });

  it.each<[string, DeadLetterSelection]>([
    ["a topic", { topic: "b" }],
    ["a topic with a space at its end", { topic: "b " }],
    ["ids that are not all dead", { ids: [] }],
  ])("dead letters of %s", async (_, given) => {
    await using world = await open();
    await fill(world.database, MANY, dead);
    await fill(world.database, FEW, { ...dead, topic: "'b'" });
    const ids = await world.database.query(
      `(SELECT id FROM outbox_message WHERE topic = 'b')
       UNION ALL (SELECT id FROM outbox_message WHERE topic = 'a' LIMIT 1000)`,
    );
    if ("ids" in Object(given))
      await world.database.query(
        "UPDATE outbox_message SET status = 'delivered' WHERE topic = 'a'",
      );
    const selection = "ids" in Object(given) ? { ids: ids.map(({ id }) => String(id)) } : given;
    const locks = await world.locksOf((store) => store.replay(selection, T));
    expect(locks).toBeLessThanOrEqual(FEW);
  });

  it("recovers one, and removes those delivered long ago", async () => {
    await using world = await open();
    await fill(world.database, MANY, { topic: "'b'" });
    await fill(world.database, MANY, { status: "'delivered'", due_at: "NULL" });
    const { claims } = await world.store.claim({ ...request, limit: 1 });
    const [claim] = claims;
    if (claim === undefined) throw new Error("no claim");
    const fence = { name: "x", token: 1 };
    const recover = (store: MySqlStore) => store.recover(claim, failure, fence);
    expect(await world.locksOf(recover)).toBeLessThanOrEqual(6);
    const remove = (store: MySqlStore) => store.removeDelivered(T + 1, FEW);
    expect(await world.locksOf(remove)).toBeLessThanOrEqual(4 * FEW);
  });
});

it("takes messages of a topic by its bytes", async () => {
  await using world = await open();
  for (const topic of ["a", "a ", "A", "ä"])
    await fill(world.database, 1, { topic: `'${topic}'`, "`key`": "'k'" });
  const topicsOf = async (filter: ClaimFilter): Promise<string[]> => {
    const { claims } = await world.store.claim({ ...request, ...filter });
    await world.store.write(claims.map((claim) => ({ type: "released", claim })));
    return claims.map(({ message }) => message.topic);
  };
  expect(await topicsOf({ topics: ["a"] })).toEqual(["a"]);
  expect(await topicsOf({ topics: ["a ", "ä"] })).toEqual(["a ", "ä"]);
  expect(await topicsOf({ exceptTopics: ["a"] })).toEqual(["a ", "A", "ä"]);
  await world.database.query("UPDATE outbox_message SET expired_claims = 1");
  expect(await topicsOf({ topics: ["a"], hasExpired: true })).toEqual(["a"]);
  expect(await topicsOf({ exceptTopics: ["a", "ä"], hasExpired: true })).toEqual(["a ", "A"]);
  await world.database.query("UPDATE outbox_message SET status = 'dead', due_at = NULL");
  const page = { topic: "a", after: undefined, limit: 10 };
  expect((await world.store.deadLetters(page)).map(({ topic }) => topic)).toEqual(["a"]);
  expect(await world.store.discard({ topic: "a " })).toBe(1);
});

it("prepares as many statements in hundreds of rounds as in a few", async () => {
  await using world = await open("key");
  const { store, database } = world;
  const page = (n: number) => ({ topic: "a", after: { id: "x", updatedAt: n }, limit: n });
  const round = async (n: number): Promise<void> => {
    const limit = 1 + (n % 16);
    const filters: ClaimFilter[] = [{}, { hasExpired: true }, { exceptTopics: [`t${n}`, "u"] }];
    for (const filter of filters) {
      await store.nextDue(undefined, filter);
      const claimed = { ...request, ...filter, now: T + n, limit, maxBytes: 10 * n };
      const { claims } = await store.claim(claimed);
      const [first, ...others] = claims;
      if (first === undefined) continue;
      await store.recover(first, { ...failure, now: T + n }, { name: "x", token: n });
      await store.write(others.map((claim) => ({ type: "failed", claim, failure })));
    }
    await store.expired(T + n, limit);
    await store.deadLetters(page(limit));
    await store.replay({ topic: `t${n}` }, T + n);
    await store.removeDelivered(T + n, limit);
    await database.transaction((tx) => store.save(tx, sample(1, { id: randomUUID() }), T + n));
    await store.backlog();
  };
  for (let n = 0; n < 32; n++) await round(n);
  const before = await world.prepared();
  for (let n = 32; n < 300; n++) await round(n);
  expect((await world.prepared()) - before).toBeLessThan(10);
  expect(before).toBeLessThan(60);
});

/** The rows that each operation reads, with so many messages that are waiting for another attempt. */
async function shape(
  count: number,
  waiting: Record<string, string | number>,
): Promise<Record<string, number>> {
  await using world = await open();
  const { store, database } = world;
  await fill(database, count, waiting);
  await fill(database, 100, { topic: "'b'" });
  const reads: Record<string, number> = {};
  const claim = () => store.claim({ ...request, hasExpired: false });
  reads["claim"] = await world.readsOf(claim);
  const { claims } = await claim();
  const outcomes = claims.map((each) => ({ type: "delivered", claim: each, now: T }) as const);
  reads["write"] = await world.readsOf(() => store.write(outcomes));
  reads["empty claim"] = await world.readsOf(() => store.claim({ ...request, now: T - 1 }));
  reads["look"] = await world.readsOf(() => store.nextDue(undefined, { hasExpired: true }));
  const exceptTopics = ["a"];
  reads["next"] = await world.readsOf(() => store.nextDue(undefined, { exceptTopics }));
  reads["backlog"] = await world.readsOf(() => store.backlog());
  const save = () =>
    database.transaction((tx) => store.save(tx, sample(1, { id: randomUUID() }), T));
  reads["save"] = await world.readsOf(save);
  const cancel = () =>
    database.transaction(async (tx) => {
      const { id } = await store.save(tx, sample(1, { id: randomUUID(), delay: 1e9 }), T);
      await store.cancel(id, tx);
    });
  reads["cancel"] = await world.readsOf(cancel);
  return reads;
}

const RETRYING = { status: "'retrying'", failed_attempts: 1, due_at: `${T} + 1000000 + n` };

describe.each([
  ["wait for another attempt", RETRYING],
  ["go first, and are due later", { due_at: `${T} + 1000000 + n`, priority: -2 }],
  ["are due, and go last", { due_at: T - 1, priority: 2, topic: "'b'" }],
])("when many messages %s", (_, waiting) => {
  let tenth: Record<string, number>;
  beforeAll(async () => {
    tenth = await shape(100_000, waiting);
  });

  it("reads no more beside a million of them than beside a tenth", async () => {
    const whole = await shape(1_000_000, waiting);
    for (const [name, reads] of Object.entries(tenth))
      expect([name, (whole[name] ?? 0) <= 1.5 * reads + 10]).toEqual([name, true]);
  }, 300_000);
});

describe("order key, with a thousand messages of each key", () => {
  let world: World;
  beforeAll(async () => {
    world = await open("key");
    await fill(world.database, 100_000, { "`key`": "CONCAT('k', FLOOR(n / 1000))" });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("claims the first of each key, whatever lies before it, and then none", async () => {
    const taken: string[] = [];
    let reads = 0;
    for (let n = 0; n < 10; n++)
      reads += await world.readsOf(async () => {
        const { claims } = await world.store.claim({ ...request, hasExpired: false });
        taken.push(...claims.map(({ message }) => message.key));
      });
    expect(taken).toHaveLength(100);
    expect(new Set(taken).size).toBe(100);
    expect(reads).toBeLessThan(20_000);
    const empty = () => world.store.claim({ ...request, hasExpired: false });
    expect((await empty()).claims).toEqual([]);
    expect(await world.readsOf(empty)).toBeLessThan(2_000);
    expect(await world.store.nextDue()).toBeUndefined();
  });

  it("claims the next one of a key after the one before", async () => {
    await world.database.query(
      "UPDATE outbox_message SET status = 'delivered', due_at = NULL, claimed_by = NULL, claimed_until = NULL WHERE claimed_by IS NOT NULL AND `key` = 'k57'",
    );
    expect(await world.store.nextDue()).toBe(T);
    const { claims } = await world.store.claim({ ...request, hasExpired: false });
    expect(claims.map(({ message }) => message.key)).toEqual(["k57"]);
  });
});

it("order key: finds a message behind more keys that wait than one look reads", async () => {
  await using world = await open("key");
  const { store, database } = world;
  const retrying = { status: "'retrying'", failed_attempts: 1, due_at: T + 1e6 };
  await fill(database, 600, { ...retrying, "`key`": "CONCAT('k', n)" });
  await fill(database, 600, { "`key`": "CONCAT('k', n)", due_at: T - 1 });
  await fill(database, 1, { "`key`": "'z'" });
  const looks: number[] = [];
  for (;;) {
    looks.push((await store.nextDue(undefined, { hasExpired: false })) ?? Number.NaN);
    const { claims } = await store.claim({ ...request, hasExpired: false });
    if (claims.length === 0 && looks.length < 6) continue;
    expect(claims.map(({ message }) => message.key)).toEqual(["z"]);
    break;
  }
  // Too early is right, if not every key was looked at: the relay looks again soon.
  expect(looks.filter((look) => look <= T)).toEqual(looks);
  const { claims } = await store.claim({ ...request, now: T + 1e6, limit: 600 });
  expect(claims.map(({ message }) => message.status)).toEqual(claims.map(() => "retrying"));
  expect(claims).not.toEqual([]);
});
