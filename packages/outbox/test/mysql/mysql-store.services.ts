import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";
import { migrate } from "../../src/mysql/migrate.ts";
import type { MySqlDatabase } from "../../src/mysql/mysql-database.ts";
import { MySqlLock } from "../../src/mysql/mysql-lock.ts";
import { MySqlStore } from "../../src/mysql/mysql-store.ts";
import type { Claim } from "../../src/store/claim.ts";
import type { Queryable } from "../../src/store/database.ts";
import { idOf, sample } from "../sample.ts";
import { connectedStore } from "../services/connected-store.ts";
import { testRelays } from "../services/relays.contract.ts";
import { testBrokenRows } from "../store/broken-row.contract.ts";
import { testStore } from "../store/outbox-store.contract.ts";
import { connectToMySql } from "./connect-to-mysql.ts";

const T = 1_700_000_000_000;
const request = { worker: "a", now: T + 1e6, until: T + 2e6 };

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
  for (const table of ["message", "fence", "lock"])
    await database.query(`DELETE FROM outbox_${table}`);
});

testStore("MySqlStore", async ({ order }) => ({
  store: new MySqlStore(database, { order }),
  transaction: (work) => database.transaction(work),
}));

let locks = 0;
testResourceLock("MySqlLock", () => new MySqlLock(database, `lock-${++locks}`));

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

it("writes simultaneous confirmations in one transaction, each conditional on its claim", async () => {
  await save(1, 2, 3, 4);
  const { claims } = await store.claimSaved([1, 2, 3, 4].map(idOf), request);
  const [first, second, third, fourth] = claims as [Claim, Claim, Claim, Claim];
  const { texts, store: own } = watched();
  const marks = [
    own.markSuccess(first, T + 1),
    own.markSuccess({ ...second, number: second.number - 1 }, T + 2),
    own.markSuccess({ ...third, worker: "b" }, T + 3),
    own.markSuccess(fourth, T + 1),
  ];
  expect(await Promise.all(marks)).toEqual([true, false, true, true]);
  expect(texts).toEqual(["SELECT", "UPDATE", "UPDATE"]);
  const found = await Promise.all([1, 2, 3, 4].map((number) => store.find(idOf(number))));
  expect(found.map((message) => [message?.status, message?.editor, message?.editTime])).toEqual([
    ["success", "a", T + 1],
    ["pending", "shop", T],
    ["success", "b", T + 3],
    ["success", "a", T + 1],
  ]);
});

it("gives statements that save a message in any transaction", async () => {
  const { message, statements } = store.statements(sample(1, { content: "?'\\" }), T);
  await database.transaction(async (tx) => {
    for (const { parts, params } of statements) await tx.query(parts.join("?"), params);
  });
  expect(statements).toHaveLength(2);
  expect(await store.find(idOf(1))).toEqual(message);
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
  expect((await holding.claimDue(request, 10)).claims).toHaveLength(2);
  expect(await store.counts()).toMatchObject({ pending: 4 });
});

it("ignores a message that a person has marked as deleted", async () => {
  await save(1);
  await database.query("UPDATE outbox_message SET deleted = true");
  expect((await store.claimSaved([idOf(1)], request)).claims).toEqual([]);
  expect((await store.claimDue(request, 10)).claims).toEqual([]);
  expect(await store.nextDue()).toBeUndefined();
  expect(await store.find(idOf(1))).toMatchObject({ deleted: true });
});

it("replays and removes more messages than fit in one list", async () => {
  const numbers = Array.from({ length: 1_030 }, (_, i) => i + 1);
  await save(...numbers);
  await database.query(
    "UPDATE outbox_message SET message_status = 'dead', next_schedule_time = NULL",
  );
  expect(await store.replay({ ids: numbers.map(idOf), editor: "ann", now: T })).toBe(1_030);
  const { claims } = await store.claimDue(request, 2_000);
  expect(claims).toHaveLength(1_030);
  expect(await Promise.all(claims.map((claim) => store.markSuccess(claim, T)))).not.toContain(
    false,
  );
  expect(await store.removeConfirmed(T + 1, 2_000)).toBe(1_030);
  expect(await database.query("SELECT * FROM outbox_content")).toEqual([]);
});

it.each([-1, 1.5, Number.NaN, "1 FOR UPDATE; --" as unknown as number])(
  "refuses the limit %s",
  async (limit) => {
    await expect(store.claimDue(request, limit)).rejects.toThrow(/^limit must be/);
    await expect(store.orphans(T, limit)).rejects.toThrow(/^limit must be/);
    await expect(store.removeConfirmed(T, limit)).rejects.toThrow(/^limit must be/);
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
  const lock = new MySqlLock(own, `pool-${++locks}`);
  await own.transaction((tx) => other.save(tx, sample(1), T));
  await save(2);
  const { claims, broken } = await other.claimDue(request, 10);
  expect([claims.map(({ message }) => message), broken]).toEqual([
    [await store.find(idOf(1)), await store.find(idOf(2))],
    [],
  ]);
  const [first, second] = claims as [Claim, Claim];
  expect(await other.markFail(first, { now: T, error: "e", nextScheduleTime: T })).toBe(true);
  expect(await other.release(second)).toBe(true);
  expect(await other.release(second)).toBe(false);
  expect(await other.backlog()).toEqual({ pending: 1, failed: 1, dead: 0 });
  expect(await other.nextDue()).toBe(T);
  const { signal } = new AbortController();
  const record = { holder: "a", leaseDuration: 1, acquiredAt: 2.5, renewedAt: T, transitions: 0 };
  const { version } = await lock.create(record, signal);
  await expect(lock.create(record, signal)).rejects.toThrow(/lock/);
  expect(await lock.update(record, version, signal)).toMatchObject({ record });
});

it("keeps outboxes of two prefixes apart", async () => {
  const prefix = "an_other_";
  expect(await migrate(database, { prefix })).toEqual([1, 2, 3]);
  const other = new MySqlStore(database, { prefix });
  await database.transaction((tx) => other.save(tx, sample(1), T));
  const { signal } = new AbortController();
  const record = { holder: "a", leaseDuration: 1, acquiredAt: T, renewedAt: T, transitions: 0 };
  await new MySqlLock(database, "x", { prefix }).create(record, signal);
  expect(await new MySqlLock(database, "x").get(signal)).toBeUndefined();
  expect(await store.counts()).toMatchObject({ pending: 0 });
  const { claims } = await other.claimDue(request, 1);
  const fence = { name: "x", token: 1 };
  const failure = { now: T, error: "e", nextScheduleTime: undefined };
  expect(await other.releaseOrphan(claims[0] as Claim, failure, fence)).toBe(true);
  expect(await other.counts()).toMatchObject({ dead: 1 });
});

it("distinguishes names of fences and locks that differ in a trailing space", async () => {
  await save(1, 2);
  const { claims } = await store.claimDue(request, 2);
  const failure = { now: T, error: "e", nextScheduleTime: T };
  const release = (index: number, name: string, token: number): Promise<boolean> =>
    store.releaseOrphan(claims[index] as Claim, failure, { name, token });
  expect(await release(0, "x", 2)).toBe(true);
  expect(await release(1, "x ", 1)).toBe(true);
  const { signal } = new AbortController();
  const record = { holder: "a", leaseDuration: 1, acquiredAt: T, renewedAt: T, transitions: 0 };
  await new MySqlLock(database, "y").create(record, signal);
  await new MySqlLock(database, "y ").create(record, signal);
});

testBrokenRows({ database: () => database, store: () => store, save, badFactor: "0" });
