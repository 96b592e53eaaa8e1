import { EventEmitter } from "node:events";
import { MySqlDatabase } from "@holdfast/outbox/mysql";
import type { Pool, QueryOptions } from "mysql2/promise";
import { expect, it } from "vitest";

/** Says that a transaction is open. */
const OPEN = { serverStatus: 3 };

/** A pool with one connection that answers as a test says. What a real server does is tested on one. */
function setUp(answers: Readonly<Record<string, unknown>> = {}) {
  const log: string[] = [];
  const options: QueryOptions[] = [];
  const run = (way: string) => async (given: string | QueryOptions) => {
    const { sql, values = [] } = typeof given === "string" ? { sql: given } : given;
    if (typeof given !== "string") options.push(given);
    log.push([way, sql, ...(values as unknown[])].join(" "));
    const answer = answers[sql];
    if (answer instanceof Error) throw answer;
    return [answer ?? [{ sql }], []];
  };
  const statements = { query: run("query"), execute: run("execute") };
  const connection = Object.assign(new EventEmitter(), statements, {
    release: () => log.push("write"),
    destroy: () => log.push("destroy"),
  });
  const pool = Object.assign(new EventEmitter(), statements, {
    getConnection: async () => connection,
    end: async () => void log.push("end"),
  });
  const errors: Error[] = [];
  const database = new MySqlDatabase(pool as unknown as Pool, (error) => errors.push(error));
  return { log, options, connection, pool, errors, database };
}

function ofServer(errno: number): Error {
  return Object.assign(new Error(`error ${errno}`), { errno });
}

it.each([
  ["a server that has become read-only", ofServer(1290)],
  ["a read-only transaction of a replica", ofServer(1792)],
  ["a server in read-only mode", ofServer(1836)],
  ["a read-only storage engine", ofServer(1874)],
  ["a node that has lost its cluster", ofServer(1047)],
  [
    "a timeout of the driver",
    Object.assign(new Error("timeout"), { code: "PROTOCOL_SEQUENCE_TIMEOUT" }),
  ],
  ["a lost connection", Object.assign(new Error("lost"), { errno: -104, fatal: true })],
])("closes the connection after %s, and sends nothing more on it", async (_, error) => {
  const { log, database } = setUp({ INSERT: error });
  await expect(database.query("INSERT")).rejects.toBe(error);
  await expect(database.transaction((tx) => tx.query("INSERT"))).rejects.toBe(error);
  const work = database.readCommitted((tx) => tx.query("INSERT").catch(() => []));
  await expect(work).rejects.toThrow("transaction rolled back because a statement failed");
  const ended = log.filter((line) => !/SET|START|DO 0/.test(line));
  expect(ended).toEqual([
    "query INSERT",
    "destroy",
    "query INSERT",
    "destroy",
    "query INSERT",
    "destroy",
  ]);
});

it.each([
  ["query", (database: MySqlDatabase, signal: AbortSignal) => database.query("HANG", [], signal)],
  [
    "transaction",
    (database: MySqlDatabase, signal: AbortSignal) =>
      database.transaction((tx) => tx.query("HANG"), signal),
  ],
])("closes the connection of a %s that is aborted during a request", async (_, call) => {
  const stop = new AbortController();
  const { log, connection, database } = setUp();
  connection.query = async (statement) => {
    log.push(`query ${(statement as QueryOptions).sql}`);
    if (log.at(-1) !== "query HANG") return [[], []];
    setImmediate(() => stop.abort("enough"));
    return await new Promise<never>(() => undefined);
  };
  await expect(call(database, stop.signal)).rejects.toBe("enough");
  expect(log.slice(-2)).toEqual(["query HANG", "destroy"]);
});

it("commits the work on one connection, and releases it", async () => {
  const { log, database } = setUp();
  const rows = await database.transaction((tx) => tx.query("INSERT", [1, "a"]));
  expect(rows).toEqual([{ sql: "INSERT" }]);
  expect(log).toEqual([
    ...["query DO 0", "query START TRANSACTION", "execute INSERT 1 a", "query COMMIT", "write"],
  ]);
});

it("asks for READ COMMITTED for one transaction alone", async () => {
  const { log, database } = setUp();
  await database.readCommitted(async () => {});
  expect(log.slice(0, 2)).toEqual([
    "query SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "query START TRANSACTION",
  ]);
});

it("prepares statements with values, and no others", async () => {
  const { log, options, database } = setUp({ UPDATE: { affectedRows: 1 } });
  expect(await database.query("SELECT", [1])).toEqual([{ sql: "SELECT" }]);
  expect(await database.query("UPDATE")).toEqual([]);
  expect(log).toEqual([
    ...["query DO 0", "execute SELECT 1", "write"],
    ...["query DO 0", "query UPDATE", "write"],
  ]);
  for (const each of options.filter(({ sql }) => sql !== "DO 0"))
    expect(each).toMatchObject({ rowsAsArray: false, typeCast: true });
});

it("rolls back failed work, and rejects with its error", async () => {
  const { log, database } = setUp();
  const error = new Error("no stock");
  await expect(database.transaction(() => Promise.reject(error))).rejects.toBe(error);
  expect(log).toEqual(["query DO 0", "query START TRANSACTION", "query ROLLBACK", "write"]);
});

it("does not reuse a connection that fails to roll back, and rejects with the first error", async () => {
  const lost = new Error("connection reset");
  const { log, database } = setUp({ ROLLBACK: new Error("closed") });
  await expect(database.transaction(() => Promise.reject(lost))).rejects.toBe(lost);
  expect(log.slice(-2)).toEqual(["query ROLLBACK", "destroy"]);
});

it("rejects if the server does not commit", async () => {
  const lost = new Error("connection reset");
  const { log, database } = setUp({ COMMIT: lost });
  await expect(database.transaction(async () => 1)).rejects.toBe(lost);
  expect(log.slice(-2)).toEqual(["query COMMIT", "destroy"]);
});

it("commits after a statement that failed, if the server says that the transaction is open", async () => {
  const { log, database } = setUp({ INSERT: ofServer(1062), "DO 0": OPEN });
  await database.transaction((tx) => tx.query("INSERT").catch(() => []));
  expect(log.slice(-2)).toEqual(["query COMMIT", "write"]);
});

it("sends nothing after a statement that ended the transaction, not even earlier requests", async () => {
  const deadlock = ofServer(1213);
  const { log, database } = setUp({ INSERT: deadlock, "DO 0": { serverStatus: 2 } });
  const failed = database.transaction(async (tx) => {
    await Promise.allSettled([tx.query("INSERT"), tx.query("UPDATE")]);
  });
  await expect(failed).rejects.toThrow("transaction rolled back because a statement failed");
  expect(log).toEqual([
    ...["query DO 0", "query START TRANSACTION", "query INSERT", "query DO 0"],
    ...["query ROLLBACK", "write"],
  ]);
});

it("finishes statements that the work did not wait for, and then commits", async () => {
  const { log, database } = setUp();
  await database.transaction(async (tx) => {
    void tx.query("INSERT");
    void tx.query("UPDATE");
  });
  expect(log.slice(2, 5)).toEqual(["query INSERT", "query UPDATE", "query COMMIT"]);
});

const doors: [string, (database: MySqlDatabase) => Promise<unknown>, own: readonly string[]][] = [
  ["query", (database) => database.query("UPDATE"), ["UPDATE"]],
  [
    "transaction",
    (database) => database.transaction((tx) => tx.query("UPDATE")),
    ["START TRANSACTION", "UPDATE", "COMMIT"],
  ],
  [
    "readCommitted",
    (database) => database.readCommitted((tx) => tx.query("UPDATE")),
    ["START TRANSACTION", "UPDATE", "COMMIT"],
  ],
  ["session", (database) => database.session((session) => session.query("UPDATE")), ["UPDATE"]],
];

it.each(doors)(
  "%s rolls back a transaction of others, and reports the first",
  async (_, call, own) => {
    const level = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
    const { log, errors, database } = setUp({ "DO 0": OPEN, [level]: ofServer(1568) });
    for (let time = 0; time < 2; time++) {
      log.length = 0;
      await call(database);
      const sent = log.map((line) => line.replace("query ", ""));
      expect(sent.filter((line) => line !== "DO 0" && line !== level)).toEqual([
        ...["ROLLBACK", ...own, "write"],
      ]);
    }
    expect(errors.map(({ message }) => message)).toEqual([
      "the pool lent a connection inside a transaction, which was rolled back: commit or roll back before you release a connection",
    ]);
  },
);

it.each(doors)("%s commits if autocommit is off", async (_, call, own) => {
  const off = { serverStatus: 0 };
  const level = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
  const { log, errors, database } = setUp({ "DO 0": off, [level]: off });
  await call(database);
  expect(log.at(0)).toMatch(/DO 0|SET TRANSACTION/);
  const ended = own.includes("COMMIT") ? own : [...own, "COMMIT"];
  expect(log.slice(1)).toEqual([...ended.map((line) => `query ${line}`), "write"]);
  expect(errors).toEqual([]);
});

it("survives a connection that reports several errors, and reports them", () => {
  const { pool, connection, errors } = setUp();
  pool.emit("connection", connection);
  connection.emit("error", new Error("shutting down"));
  connection.emit("error", new Error("connection lost"));
  expect(errors.map(({ message }) => message)).toEqual(["shutting down", "connection lost"]);
});

const lost: Readonly<
  Record<string, (database: MySqlDatabase, lose: () => void) => Promise<unknown>>
> = {
  "a statement of a transaction": (database, lose) =>
    database.transaction(async (tx) => {
      lose();
      await tx.query("INSERT");
    }),
  "a prepared one": (database, lose) =>
    database.readCommitted(async (tx) => {
      lose();
      await tx.query("INSERT", [1]);
    }),
  "a COMMIT": (database, lose) => database.transaction(async () => lose()),
  "a statement of a session": (database, lose) =>
    database.session(async (session) => {
      lose();
      await session.query("INSERT");
    }),
};

it.each(Object.entries(lost))("says why the connection was lost before %s", async (_, call) => {
  const blind = new Error("Can't add new command when connection is in closed state");
  const { log, pool, connection, errors, database } = setUp({ INSERT: blind, COMMIT: blind });
  pool.emit("connection", connection);
  const reason = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", errno: -104 });
  const later = new Error("closed");
  await expect(
    call(database, () => void [reason, later].map((error) => connection.emit("error", error))),
  ).rejects.toMatchObject({
    message: "the connection was lost before this statement, which was not sent: read ECONNRESET",
    code: "ECONNRESET",
    errno: -104,
    cause: blind,
  });
  expect(log.at(-1)).toBe("destroy");
  expect(errors).toEqual([reason, later]);
});

it("ends the pool", async () => {
  const { log, database } = setUp();
  await database[Symbol.asyncDispose]();
  expect(log).toEqual(["end"]);
});
