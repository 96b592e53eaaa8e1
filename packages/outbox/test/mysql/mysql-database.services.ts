import type { Queryable } from "@holdfast/outbox";
import { MySqlDatabase, MySqlStore, migrate } from "@holdfast/outbox/mysql";
import { poll } from "@holdfast/wait";
import { createConnection, createPool } from "mysql2/promise";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { idOf, sample } from "../sample.ts";
import { connectToMySql } from "./connect-to-mysql.ts";

const T = 1_700_000_000_000;
const request = { relay: "a", now: T + 1e6, until: T + 2e6 };

let url: string;
let database: MySqlDatabase;

beforeAll(async () => {
  url = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  database = connectToMySql(url);
  await migrate(database);
  await database.query("CREATE TABLE account (id INT PRIMARY KEY, amount INT NOT NULL)");
});

afterAll(() => database[Symbol.asyncDispose]());

beforeEach(async () => {
  await database.query("DELETE FROM outbox_message");
  await database.query("DELETE FROM account");
  await database.query("INSERT INTO account VALUES (1, 0), (2, 0)");
});

const amounts = async (): Promise<unknown[]> => {
  const rows = await database.query("SELECT amount FROM account ORDER BY id");
  return rows.map(({ amount }) => amount);
};
const add = (tx: Queryable, id: number): Promise<unknown> =>
  tx.query("UPDATE account SET amount = amount + 1 WHERE id = ?", [id]);

/** Both transactions lock one account, then ask for the other's: the server ends one of them. */
async function deadlock(
  first: (work: (tx: Queryable) => Promise<void>) => Promise<void>,
  second: typeof first,
): Promise<PromiseSettledResult<void>[]> {
  let arrived = 0;
  let open: () => void;
  const both = new Promise<void>((resolve) => {
    open = resolve;
  });
  const lockBoth =
    (one: number, other: number) =>
    async (tx: Queryable): Promise<void> => {
      await add(tx, one);
      if (++arrived === 2) open();
      await both;
      await add(tx, other);
    };
  return await Promise.allSettled([first(lockBoth(1, 2)), second(lockBoth(2, 1))]);
}

it("commits, and rolls back with the error of the work", async () => {
  expect(await database.transaction(async (tx) => void (await add(tx, 1)))).toBeUndefined();
  const error = new Error("no stock");
  const failed = database.transaction(async (tx) => {
    await add(tx, 1);
    throw error;
  });
  await expect(failed).rejects.toBe(error);
  expect(await amounts()).toEqual([1, 0]);
});

it("sends nothing once a transaction has ended", async () => {
  const tx = await database.transaction(async (each) => each);
  await expect(add(tx, 1)).rejects.toThrow("transaction has already ended");
  expect(await amounts()).toEqual([0, 0]);
});

it("continues a transaction after a statement that failed alone", async () => {
  await database.transaction(async (tx) => {
    await add(tx, 1);
    await expect(tx.query("INSERT INTO account VALUES (1, 0)")).rejects.toThrow(/Duplicate/);
    await add(tx, 2);
  });
  expect(await amounts()).toEqual([1, 1]);
});

it("retries no transaction of the caller", async () => {
  const run = (work: (tx: Queryable) => Promise<void>): Promise<void> => database.transaction(work);
  const outcomes = await deadlock(run, run);
  const [failed] = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(failed?.reason).toMatchObject({ errno: 1213 });
  expect(await amounts()).toEqual([1, 1]);
});

it("rejects a transaction that a deadlock rolled back", async () => {
  const careless = (work: (tx: Queryable) => Promise<void>): Promise<void> =>
    database.transaction(async (tx) => {
      await work(tx).catch(() => {});
      // Without a transaction, these two would be committed each by itself.
      const more = [add(tx, 1), add(tx, 2)];
      await Promise.allSettled(more);
    });
  const outcomes = await deadlock(careless, careless);
  const [failed] = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(failed?.reason).toEqual(new Error("transaction rolled back because a statement failed"));
  expect(failed?.reason.cause).toMatchObject({ errno: 1213 });
  expect(await amounts()).toEqual([2, 2]);
});

it("runs a transaction of the store again after a deadlock", async () => {
  const starts: number[] = [];
  const store = new MySqlStore(database);
  await database.transaction((tx) => store.save(tx, sample(1), T));
  let meet: ((tx: Queryable) => Promise<void>) | undefined;
  const watched = new MySqlStore({
    query: (text, params) => database.query(text, params),
    transaction: (work) => database.transaction(work),
    readCommitted: (work) => {
      starts.push(starts.length);
      return database.readCommitted(async (tx) => {
        const value = await work(tx);
        await meet?.(tx);
        return value;
      });
    },
    async [Symbol.asyncDispose]() {},
  });
  const claim = (work: (tx: Queryable) => Promise<void>): Promise<void> => {
    meet = work;
    return watched.claim({ ...request, limit: 10 }).then(({ claims }) => {
      expect(claims.map(({ message, number }) => [message.id, number])).toEqual([[idOf(1), 1]]);
    });
  };
  /** The server ends the one that has changed less. */
  const heavy = (work: (tx: Queryable) => Promise<void>): Promise<void> =>
    database.transaction(async (tx) => {
      const rows = Array.from({ length: 1_000 }, (_, i) => `(${i + 10}, 0)`);
      await tx.query(`INSERT INTO account VALUES ${rows.join(", ")}`);
      await work(tx);
    });
  const outcomes = await deadlock(claim, heavy);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(starts).toEqual([0, 1]);
  expect((await amounts()).slice(0, 2)).toEqual([2, 2]);
});

it.each(["query", "transaction"] as const)(
  "replaces connections that the server has ended while idle: %s",
  async (way) => {
    const pool = createPool({ uri: url, connectionLimit: 3 });
    const broken: Error[] = [];
    await using own = new MySqlDatabase(pool, (error) => broken.push(error));
    const idsOf = async (): Promise<unknown[]> => {
      const ask = async (): Promise<unknown> => {
        const [row] = await own.query("SELECT CONNECTION_ID() AS id, SLEEP(0.1)");
        return row?.["id"];
      };
      return await Promise.all([ask(), ask(), ask()]);
    };
    const ids = await idsOf();
    for (const id of ids) await database.query(`KILL ${id}`);
    await poll(() => broken.length >= ids.length);
    const ask = (queryable: Queryable): Promise<unknown> => queryable.query("SELECT 1 AS one");
    expect(way === "query" ? await ask(own) : await own.transaction(ask)).toEqual([{ one: 1 }]);
    expect(new Set([...ids, ...(await idsOf())]).size).toBe(6);
  },
);

it("rolls back when the connection ends in the middle, and continues on another one", async () => {
  await using own = connectToMySql(url, { connectionLimit: 1 });
  const store = new MySqlStore(own);
  for (const when of ["while the work thinks", "during a statement"] as const) {
    const failed = own.transaction(async (tx) => {
      await add(tx, 1);
      await store.save(tx, sample(1), T);
      const [row] = await tx.query("SELECT CONNECTION_ID() AS id");
      const kill = database.query(`KILL ${row?.["id"]}`);
      if (when === "during a statement") await tx.query("SELECT SLEEP(5)");
      await kill;
      await database.query("SELECT SLEEP(0.1)");
    });
    expect(await errorOf(failed)).toBeInstanceOf(Error);
    expect(await amounts()).toEqual([0, 0]);
    expect(await store.find(idOf(1))).toBeUndefined();
  }
  await own.transaction((tx) => store.save(tx, sample(1), T));
  expect((await store.claim({ ...request, limit: 1 })).claims).toHaveLength(1);
});

it("gives up a claim whose connection is ended, and the message can be claimed", async () => {
  await using own = connectToMySql(url, { connectionLimit: 2 });
  const store = new MySqlStore(own);
  await own.transaction((tx) => store.save(tx, sample(1), T));
  const killed = new MySqlStore({
    query: (text, params) => own.query(text, params),
    transaction: (work) => own.transaction(work),
    readCommitted: (work) =>
      own.readCommitted(async (tx) => {
        const value = await work(tx);
        const [row] = await tx.query("SELECT CONNECTION_ID() AS id");
        await database.query(`KILL ${row?.["id"]}`);
        return value;
      }),
    async [Symbol.asyncDispose]() {},
  });
  expect(await errorOf(killed.claim({ ...request, limit: 1 }))).toBeInstanceOf(Error);
  // The server gives up the locks of the other one in its own time.
  const claimed = await poll(async () => {
    const { claims } = await store.claim({ ...request, limit: 1 });
    return claims.length > 0 && claims;
  });
  expect(claimed.map(({ number }) => number)).toEqual([1]);
});

it("closes a connection with a failed session, and releases its locks", async () => {
  const error = new Error("no schema");
  const failed = database.session(async (session) => {
    await session.query("SELECT GET_LOCK('mine', 0)");
    throw error;
  });
  await expect(failed).rejects.toBe(error);
  const other = await createConnection(url);
  const [rows] = await other.query("SELECT GET_LOCK('mine', 5) AS locked");
  await other.end();
  expect(rows).toEqual([{ locked: 1 }]);
});
