import { type MySqlDatabase, MySqlStore, migrate } from "@holdfast/outbox/mysql";
import type { Claim, Queryable } from "@holdfast/outbox/store";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { fail, release } from "../outcomes.ts";
import { idOf, sample } from "../sample.ts";
import { connectedStore } from "../services/connected-store.ts";
import { testRelays } from "../services/relays.contract.ts";
import { testInvalidRows } from "../store/invalid-row.contract.ts";
import { testMissingTables } from "../store/missing-tables.contract.ts";
import { testStore } from "../store/outbox-store.contract.ts";
import { connectToMySql } from "./connect-to-mysql.ts";

const T = 1_700_000_000_000;
const request = { relay: "a", now: T + 1e6, until: T + 2e6 };

let url: string;
let database: MySqlDatabase;
let store: MySqlStore;

beforeAll(async () => {
  url = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  database = connectToMySql(url);
  store = new MySqlStore(database);
  await migrate(database);
});

afterAll(() => database[Symbol.asyncDispose]());

beforeEach(async () => {
  for (const table of ["message", "fence", "once"])
    await database.query(`DELETE FROM outbox_${table}`);
});

testStore("MySqlStore", async ({ order }) => ({
  store: new MySqlStore(database, { order }),
  transaction: (work) => database.transaction(work),
}));

testMissingTables("MySqlStore", () => ({
  database,
  make: (options) => new MySqlStore(database, options),
  code: "ER_NO_SUCH_TABLE",
}));

testRelays("MariaDB", async () => {
  const own = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  await using first = connectToMySql(own);
  await migrate(first);
  return () => {
    const connection = connectToMySql(own);
    return connectedStore(connection, new MySqlStore(connection));
  };
});

async function save(...numbers: number[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const number of numbers) await store.save(tx, sample(number), T);
  });
}

/** The same database, and the statements that are sent to it. */
function watched(): { readonly texts: string[]; readonly store: MySqlStore } {
  const texts: string[] = [];
  const watch =
    <Value>(work: (tx: Queryable) => Promise<Value>) =>
    (tx: Queryable): Promise<Value> =>
      work({
        query: (text, params) => {
          texts.push(text.trim().split(/\s/)[0] ?? "");
          return tx.query(text, params);
        },
      });
  const own = new MySqlStore({
    query: (text, params) => database.query(text, params),
    transaction: (work) => database.transaction(watch(work)),
    readCommitted: (work) => database.readCommitted(watch(work)),
    async [Symbol.asyncDispose]() {},
  });
  return { texts, store: own };
}

it("writes many outcomes in one transaction", async () => {
  await save(1, 2, 3, 4);
  const { claims } = await store.claim({ ...request, limit: 4 });
  const { texts, store: own } = watched();
  const delivered = claims.map((claim) => ({ type: "delivered", claim, now: T }) as const);
  expect(await own.write(delivered)).toEqual([true, true, true, true]);
  expect(texts).toEqual(["SELECT", "UPDATE"]);
  expect(await store.counts()).toMatchObject({ delivered: 4 });
});

it("gives statements that save a message in any transaction", async () => {
  const run = (facts: object, n = 1) =>
    database.transaction(async (tx) => {
      const { message, statements } = store.statements(sample(n, { payload: "?'\\", ...facts }), T);
      for (const { parts, params } of statements) await tx.query(parts.join("?"), params);
      return message;
    });
  const message = await run({ priority: 1, delay: 7 });
  expect(await store.find(idOf(1))).toEqual(message);
  await run({ topic: "again" });
  expect(await store.find(idOf(1))).toEqual(message);
  const unique = { key: "a", within: 1_000 };
  const second = await run({ unique }, 2);
  expect(await store.find(idOf(2))).toEqual(second);
  await run({ unique, topic: "again" }, 2);
  await run({ unique }, 3);
  expect(await store.find(idOf(2))).toEqual(second);
  expect(await store.counts()).toMatchObject({ pending: 2 });
});

it("saves while a claim is held open: its transaction locks no gaps", async () => {
  await save(1, 3);
  await using impatient = connectToMySql(url, { connectionLimit: 1 });
  await impatient.query("SET SESSION innodb_lock_wait_timeout = 2");
  const holding = new MySqlStore({
    query: (text, params) => database.query(text, params),
    transaction: (work) => database.transaction(work),
    readCommitted: (work) =>
      database.readCommitted(async (tx) => {
        const value = await work(tx);
        // The second one is due between those that are locked, the fourth after them.
        await impatient.transaction((other) => store.save(other, sample(2), T));
        await impatient.transaction((other) => store.save(other, sample(4), T));
        return value;
      }),
    async [Symbol.asyncDispose]() {},
  });
  expect((await holding.claim({ ...request, limit: 10 })).claims).toHaveLength(2);
  expect(await store.counts()).toMatchObject({ pending: 4 });
});

it("replays and removes more messages than fit in one list", async () => {
  const numbers = Array.from({ length: 1_030 }, (_, i) => i + 1);
  await save(...numbers);
  await database.query("UPDATE outbox_message SET status = 'dead', due_at = NULL");
  expect(await store.replay({ ids: numbers.map(idOf) }, T)).toBe(1_030);
  const { claims } = await store.claim({ ...request, limit: 2_000 });
  expect(claims).toHaveLength(1_030);
  const written = await store.write(
    claims.map((claim) => ({ type: "delivered", claim, now: T }) as const),
  );
  expect(written).not.toContain(false);
  expect(await store.removeDelivered(T + 1, 2_000)).toBe(1_030);
});

it.each([-1, 1.5, Number.NaN, "1 FOR UPDATE; --" as unknown as number])(
  "refuses the limit %s",
  async (limit) => {
    await expect(store.claim({ ...request, limit: limit })).rejects.toThrow(/^limit must be/);
    await expect(store.expired(T, limit)).rejects.toThrow(/^limit must be/);
    await expect(store.removeDelivered(T, limit)).rejects.toThrow(/^limit must be/);
  },
);

it.each([
  { rowsAsArray: true },
  { nestTables: true } as object,
  { supportBigNumbers: true, bigNumberStrings: true },
  { typeCast: false },
  { namedPlaceholders: true },
  { flags: ["-FOUND_ROWS"] },
  { dateStrings: true, decimalNumbers: true, multipleStatements: true, timezone: "+05:00" },
])("works with a pool of the options %j", async (options) => {
  await using own = connectToMySql(url, options);
  const other = new MySqlStore(own);
  await own.transaction((tx) => other.save(tx, sample(1), T));
  await save(2);
  const { claims, invalid } = await other.claim({ ...request, limit: 10 });
  expect([claims.map(({ message }) => message), invalid]).toEqual([
    [await store.find(idOf(1)), await store.find(idOf(2))],
    [],
  ]);
  const [first, second] = claims as [Claim, Claim];
  expect(await fail(other, first, { now: T, error: "e", dueAt: T })).toBe(true);
  expect(await release(other, second)).toBe(true);
  expect(await release(other, second)).toBe(false);
  expect(await other.backlog()).toEqual({ pending: 1, retrying: 1, dead: 0 });
  expect(await other.nextDue()).toBe(T);
});

it("keeps outboxes of two prefixes apart", async () => {
  const prefix = "an_other_";
  expect(await migrate(database, { prefix })).toEqual([1, 2, 3, 4, 5]);
  const other = new MySqlStore(database, { prefix });
  await database.transaction((tx) => other.save(tx, sample(1), T));
  expect(await store.counts()).toMatchObject({ pending: 0 });
  const { claims } = await other.claim({ ...request, limit: 1 });
  const fence = { name: "x", token: 1 };
  const failure = { now: T, error: "e", dueAt: undefined };
  expect(await other.recover(claims[0] as Claim, failure, fence)).toBe(true);
  expect(await other.counts()).toMatchObject({ dead: 1 });
});

it("distinguishes names of fences that differ in a trailing space", async () => {
  await save(1, 2);
  const { claims } = await store.claim({ ...request, limit: 2 });
  const failure = { now: T, error: "e", dueAt: T };
  const release = (index: number, name: string, token: number): Promise<boolean> =>
    store.recover(claims[index] as Claim, failure, { name, token });
  expect(await release(0, "x", 2)).toBe(true);
  expect(await release(1, "x ", 1)).toBe(true);
});

testInvalidRows({ database: () => database, store: () => store, save, badFactor: "0" });
