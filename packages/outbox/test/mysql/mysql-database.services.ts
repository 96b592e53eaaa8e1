import { MySqlDatabase, MySqlStore, migrate } from "@holdfast/outbox/mysql";
import type { Claim, Queryable } from "@holdfast/outbox/store";
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

/** Each way to a connection of the pool, with a change in it. */
const doors: [string, (own: MySqlDatabase) => Promise<unknown>][] = [
  ["query", (own) => add(own, 2)],
  ["transaction", (own) => own.transaction((tx) => add(tx, 2))],
  ["readCommitted", (own) => own.readCommitted((tx) => add(tx, 2))],
  ["session", (own) => own.session((session) => add(session, 2))],
];

it.each(doors)("%s commits no transaction that other code has left open", async (_, change) => {
  const pool = createPool({ uri: url, connectionLimit: 1 });
  const errors: Error[] = [];
  await using own = new MySqlDatabase(pool, (error) => errors.push(error));
  for (let time = 1; time <= 2; time++) {
    const other = await pool.getConnection();
    await other.query("START TRANSACTION");
    await other.query("UPDATE account SET amount = amount + 100 WHERE id = 1");
    other.release();
    await change(own);
    expect(await amounts()).toEqual([0, time]);
  }
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^the pool lent a connection inside a transaction/),
  ]);
});

it.each([
  ["a statement", (tx: Queryable) => add(tx, 2)],
  ["COMMIT", async () => undefined],
])("says that the connection was lost before %s", async (_, work) => {
  let onLost: (error: Error) => void;
  const lost = new Promise<Error>((resolve) => {
    onLost = resolve;
  });
  const pool = createPool({ uri: url, connectionLimit: 1 });
  await using own = new MySqlDatabase(pool, (error) => onLost(error));
  const transaction = own.transaction(async (tx) => {
    await add(tx, 1);
    const [row] = await tx.query("SELECT CONNECTION_ID() AS id");
    await database.query(`KILL ${row?.["id"]}`);
    await lost;
    await work(tx);
  });
  const error = await errorOf(transaction);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^the connection was lost before this statement, which was not/),
    cause: { message: expect.stringContaining("closed state") },
  });
  expect((error as Error).message).toContain((await lost).message);
  expect(await amounts()).toEqual([0, 0]);
  await own.transaction((tx) => add(tx, 1)); // on another connection
  expect(await amounts()).toEqual([1, 0]);
});

/** A pool of which each connection begins with `autocommit = 0`, as `init_connect` may have it. */
function withoutAutocommit(uri: string): MySqlDatabase {
  const pool = createPool({ uri, connectionLimit: 2 });
  pool.pool.on("connection", (connection) => connection.query("SET autocommit = 0"));
  return new MySqlDatabase(pool);
}

it.each(doors)("%s commits with autocommit off", async (_, change) => {
  await using own = withoutAutocommit(url);
  await change(own);
  expect(await amounts()).toEqual([0, 1]);
});

it("migrates, and runs all requests of a store, with autocommit off", async () => {
  const uri = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  await using own = withoutAutocommit(uri);
  await using other = connectToMySql(uri);
  expect(await migrate(own)).toEqual([1, 2, 3, 4, 5]);
  expect(await migrate(other)).toEqual([]);
  const store = new MySqlStore(own);
  const seen = new MySqlStore(other);
  for (const number of [1, 2, 3]) await own.transaction((tx) => store.save(tx, sample(number), T));
  expect(await seen.backlog()).toMatchObject({ pending: 3 });
  expect(await store.nextDue()).toBe(T);
  const { claims } = await store.claim({ ...request, limit: 3 });
  const failure = { now: T, error: "e", dueAt: undefined };
  const [first, second, third] = claims as [Claim, Claim, Claim];
  await store.write([
    { type: "delivered", claim: first, now: T },
    { type: "failed", claim: second, failure },
  ]);
  expect((await store.expired(T + 1e7, 10)).claims).toHaveLength(1);
  expect(await store.recover(third, failure, { name: "x", token: 1 })).toBe(true);
  expect(await seen.counts()).toEqual({ pending: 0, retrying: 0, delivered: 1, dead: 2 });
  expect(await store.replay({ ids: [second.message.id] }, T)).toBe(1);
  expect(await store.discard("all")).toBe(1);
  expect(await store.removeDelivered(T + 1, 10)).toBe(1);
  expect(await seen.counts()).toEqual({ pending: 1, retrying: 0, delivered: 0, dead: 0 });
  // What others commit is seen: no read has left a transaction open.
  await seen.replay("all", T);
  await other.query("UPDATE outbox_message SET due_at = due_at + 1");
  expect(await store.nextDue()).toBe(T + 1);
});

it("saves with the right to insert into the table alone", async () => {
  const uri = new URL(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));
  await using owner = connectToMySql(uri.href);
  await migrate(owner);
  const name = `p${uri.pathname.slice(6, 20)}`;
  await owner.query(`CREATE USER ${name}@'%' IDENTIFIED BY 'secret'`);
  await owner.query(`GRANT INSERT ON ${uri.pathname.slice(1)}.outbox_message TO ${name}@'%'`);
  uri.username = name;
  uri.password = "secret";
  await using producer = connectToMySql(uri.href);
  const store = new MySqlStore(producer);
  await producer.transaction((tx) => store.save(tx, sample(1), T));
  const again = await producer.transaction((tx) => store.saveAll(tx, [sample(1), sample(2)], T));
  expect(again.map(({ isNew }) => isNew)).toEqual([false, true]);
  expect(await new MySqlStore(owner).find(idOf(1))).toMatchObject({ id: idOf(1) });
  const run = (id: string | undefined) =>
    producer.transaction(async (tx) => {
      for (const { parts, params } of store.statements(sample(3, { id }), T).statements)
        await tx.query(parts.join("?"), params);
    });
  await run(undefined);
  await expect(run(idOf(3))).rejects.toThrow(/denied/);
  const table = `${uri.pathname.slice(1)}.outbox_message`;
  await owner.query(`GRANT SELECT, UPDATE ON ${table} TO ${name}@'%'`);
  await run(idOf(3));
  await run(idOf(3));
  expect(await new MySqlStore(owner).counts()).toMatchObject({ pending: 4 });
});

it("orders what is saved after a copy with its sequence numbers behind what was copied", async () => {
  await using copy = connectToMySql(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));
  await migrate(copy);
  const store = new MySqlStore(copy, { order: "key" });
  await copy.query(
    `INSERT INTO outbox_message (sequence, id, topic, \`key\`, headers, payload, created_at, updated_at, due_at)
     VALUES (5000, UUID(), 'a', 'k', '{}', '1', ${T}, ${T}, ${T})`,
  );
  await copy.query("ALTER TABLE outbox_message AUTO_INCREMENT = 1");
  await copy.transaction((tx) => store.save(tx, sample(1), T));
  const [row] = await copy.query("SELECT MIN(sequence) AS first FROM outbox_message WHERE id = ?", [
    idOf(1),
  ]);
  expect(Number(row?.["first"])).toBeGreaterThan(5_000);
});
