import { FakeClock } from "@holdfast/clock/testing";
import {
  MySqlStore,
  type MySqlStoreOptions,
  migrate,
  type ReadCommittedDatabase,
  type SessionDatabase,
} from "@holdfast/outbox/mysql";
import type { Claim, Queryable, Row } from "@holdfast/outbox/store";
import { describe, expect, it } from "vitest";
import { listsOf } from "../../src/mysql/lists.ts";
import { idOf, sample } from "../sample.ts";

const T = 1_700_000_000_000;

/** A database whose transactions fail as a test says, and then do as they are told. */
function failing(errors: Error[], query: Queryable["query"] = async () => []) {
  let transactions = 0;
  const readCommitted = async <Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> => {
    transactions++;
    const error = errors.shift();
    if (error !== undefined) throw error;
    return await work({ query });
  };
  const database: ReadCommittedDatabase = {
    query,
    readCommitted,
    transaction: readCommitted,
    async [Symbol.asyncDispose]() {},
  };
  return { database, transactions: () => transactions };
}

const serverError = (errno: number): Error =>
  Object.assign(new Error(`number ${errno}`), { errno });
const deadlocks = (count: number): Error[] =>
  Array.from({ length: count }, () => serverError(1213));
const request = { relay: "a", now: T, until: T + 1 };

describe("a transaction of the store", () => {
  it("runs again after a deadlock and a lock wait timeout, a query layer's too", async () => {
    const clock = new FakeClock();
    const wrapped = new Error("Failed query", { cause: serverError(1205) });
    const { database, transactions } = failing([...deadlocks(1), wrapped]);
    const store = new MySqlStore(database, { clock });
    expect(await clock.run(() => store.claim({ ...request, limit: 1 }))).toEqual({
      claims: [],
      invalid: [],
    });
    expect(transactions()).toBe(3);
    expect(clock.waiters()).toBe(0);
  });

  it.each([1020, 1205, 1213])(
    "runs again after error %i of the server, at each door",
    async (number) => {
      const clock = new FakeClock();
      const errors: Error[] = [];
      const { database, transactions } = failing(errors);
      const store = new MySqlStore(database, { clock });
      const id = idOf(1);
      const claim = { message: { id }, relay: "a", number: 1, until: T } as Claim;
      const doors: (() => Promise<unknown>)[] = [
        () => store.claim({ ...request, limit: 1 }),
        () => store.write([{ type: "delivered", claim, now: T }]),
        () => store.recover(claim, { now: T, error: "e", dueAt: T }, { name: "x", token: 1 }),
        () => store.replay("all", T),
        () => store.discard({ ids: [id] }),
        () => store.removeDelivered(T, 1),
      ];
      for (const door of doors) {
        errors.push(serverError(number));
        const before = transactions();
        await clock.run(door);
        expect(transactions() - before).toBe(2);
      }
      expect(clock.waiters()).toBe(0);
    },
  );

  it("gives up after five more, with the error of the last one", async () => {
    const clock = new FakeClock({ now: T });
    const { database, transactions } = failing(deadlocks(10));
    const store = new MySqlStore(database, { clock });
    const failed = clock.run(() => store.removeDelivered(T, 1));
    await expect(failed).rejects.toMatchObject({ errno: 1213 });
    expect(transactions()).toBe(6);
    expect(clock.now()).toBe(T + 5 + 10 + 20 + 40 + 80);
  });

  it("does not run again after any other error", async () => {
    const lost = serverError(2013);
    const { database, transactions } = failing([lost]);
    await expect(new MySqlStore(database).claim({ ...request, limit: 1 })).rejects.toBe(lost);
    expect(transactions()).toBe(1);
  });
});

it.each(["topic", "created_at"])(
  "a setting of the driver that makes %s unreadable releases the claims, and makes no dead letter",
  async (column) => {
    const statements: (readonly [string | undefined, readonly unknown[] | undefined])[] = [];
    const row = {
      ...{ sequence: 7, id: idOf(1), topic: "a", key: "b", headers: "{}", payload: "1" },
      ...{
        priority: 0,
        status: "pending",
        created_at: T,
        updated_at: T,
        due_at: T,
        failed_attempts: 0,
      },
      ...{ expired_claims: 0, max_attempts: 5, initial_delay: 1, factor: 2, last_error: null },
      ...{ max_delay: null, expires_at: null },
      ...{ claimed_by: "a", claimed_until: T + 1, claim_number: 1, bytes: 1 },
      [column]: { text: "as an object" },
    };
    const { database } = failing([], async (text, params) => {
      statements.push([/SET\s+(\w+ = \S+)/.exec(text)?.[1], params]);
      return text.includes("SELECT") ? [row] : [];
    });
    await expect(new MySqlStore(database).claim({ ...request, limit: 1 })).rejects.toThrow(
      `columns ${column} have values of the wrong type`,
    );
    expect(statements.at(-1)).toEqual(["claimed_by = NULL,", [7]]);
  },
);

describe("save", () => {
  it("takes a duplicate that a query layer reports for one that is there", async () => {
    const { database } = failing([]);
    const tx: Queryable = {
      query: () => Promise.reject(new Error("Failed query", { cause: serverError(1062) })),
    };
    expect(await new MySqlStore(database).save(tx, sample(1), T)).toMatchObject({
      id: idOf(1),
      isNew: false,
    });
  });

  it("rejects with any other error of the transaction as it is", async () => {
    const { database } = failing([]);
    const error = serverError(1366);
    const tx: Queryable = { query: () => Promise.reject(error) };
    await expect(new MySqlStore(database).save(tx, sample(1), T)).rejects.toBe(error);
  });
});

it("builds lists of few lengths", () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  expect(listsOf([])).toEqual([]);
  expect(listsOf([1])).toEqual([[1]]);
  expect(listsOf([1, 2, 3])).toEqual([[1, 2, 3, 3]]);
  expect(listsOf(numbers(8))).toEqual([numbers(8)]);
  expect(listsOf(numbers(1_025)).map(({ length }) => length)).toEqual([1_024, 1]);
});

describe("bad input", () => {
  const { database } = failing([]);
  const PREFIX =
    /^options\.prefix must be 1 to 30 lower case letters, digits and underscores, not a digit first, got /;

  it.each(["", "Outbox_", "a b", "x; DROP TABLE y", "`", "a".repeat(31), "1outbox"])(
    "refuses the prefix %j",
    async (prefix) => {
      expect(() => new MySqlStore(database, { prefix })).toThrow(PREFIX);
      const session: SessionDatabase["session"] = () => Promise.reject(new Error("was asked"));
      await expect(migrate({ session }, { prefix })).rejects.toThrow(PREFIX);
    },
  );

  it.each([
    [{ prefix: 7 }, /^options\.prefix must be a string/],
    [{ order: "fifo" }, /^options\.order must be "none" or "key"/],
    [{ clock: {} }, /^options\.clock/],
    [null, /^options must be an object/],
  ])("refuses the options %j", (options, problem) => {
    expect(() => new MySqlStore(database, options as unknown as MySqlStoreOptions)).toThrow(
      problem,
    );
  });

  it.each([undefined, {}, { query() {} }])("refuses the database %j", (given) => {
    const bad = given as unknown as ReadCommittedDatabase;
    expect(() => new MySqlStore(bad)).toThrow(/^database/);
  });

  it("refuses an instant that is not a number", async () => {
    const store = new MySqlStore(database);
    const now = Number.NaN;
    await expect(store.claim({ ...{ ...request, now }, limit: 1 })).rejects.toThrow(/^now must be/);
    await expect(store.expired(now, 1)).rejects.toThrow(/^now must be/);
    await expect(store.removeDelivered(now, 1)).rejects.toThrow(/^before must be/);
  });
});

it("reports another process that migrates for too long", async () => {
  const session: SessionDatabase["session"] = (work) =>
    work({ query: async (): Promise<readonly Row[]> => [{ locked: 0 }] });
  await expect(migrate({ session })).rejects.toThrow(
    "migrate: another process has been migrating outbox_* for 600 s; try again",
  );
});
