import { EventEmitter } from "node:events";
import { PgDatabase } from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import type { Pool } from "pg";
import { expect, it } from "vitest";

/** A pool with one connection that answers as a test says. What a real server does is tested on one. */
function setUp(answers: Readonly<Record<string, Error | { readonly command: string }>> = {}) {
  const texts: string[] = [];
  const released: unknown[] = [];
  const query = async (text: string, params: unknown[] = []): Promise<unknown> => {
    texts.push([text, ...params].join(" "));
    const answer = answers[text];
    if (answer instanceof Error) throw answer;
    return { rows: [{ text }], command: text, ...answer };
  };
  const client = Object.assign(new EventEmitter(), {
    query,
    release: (error: unknown) => released.push(error),
  });
  const pool = Object.assign(new EventEmitter(), {
    query,
    connect: async () => client,
    end: async () => texts.push("end"),
  });
  const errors: Error[] = [];
  const database = new PgDatabase(pool as unknown as Pool, (error) => errors.push(error));
  return { texts, released, client, pool, errors, database };
}

function ofServer(code: string): Error {
  return Object.assign(new Error(`error ${code}`), { code });
}

it.each([
  ["a server that has become read-only", ofServer("25006")],
  ["a server that shuts down", ofServer("57P01")],
  ["a connection exception", ofServer("08006")],
  ["a timeout of the driver", new Error("Query read timeout")],
  ["a lost connection", ofServer("ECONNRESET")],
])("closes the connection after %s, and sends nothing more on it", async (_, error) => {
  const { texts, released, database } = setUp({ INSERT: error });
  await expect(database.query("INSERT")).rejects.toBe(error);
  await expect(database.transaction((tx) => tx.query("INSERT"))).rejects.toBe(error);
  await expect(database.readCommitted((tx) => tx.query("INSERT"))).rejects.toBe(error);
  expect(texts).toEqual([
    ...["INSERT", "BEGIN", "INSERT"],
    ...["BEGIN ISOLATION LEVEL READ COMMITTED", "INSERT"],
  ]);
  expect(released).toEqual([error, error, error]);
});

it("keeps a connection after an error of a statement", async () => {
  const { released, database } = setUp({ INSERT: ofServer("23505") });
  await expect(database.query("INSERT")).rejects.toThrow("23505");
  await expect(database.transaction((tx) => tx.query("INSERT"))).rejects.toThrow("23505");
  expect(released).toEqual([undefined, undefined]);
});

it.each([
  ["query", (database: PgDatabase, signal: AbortSignal) => database.query("HANG", [], signal)],
  [
    "transaction",
    (database: PgDatabase, signal: AbortSignal) =>
      database.transaction((tx) => tx.query("HANG"), signal),
  ],
])("closes the connection of a %s that is aborted during a request", async (_, call) => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const { released, client, database } = setUp();
  client.query = async (text) => {
    if (text !== "HANG") return { rows: [], command: text };
    setImmediate(() => stop.abort(reason));
    return await new Promise<never>(() => undefined);
  };
  await expect(call(database, stop.signal)).rejects.toBe(reason);
  expect(released).toEqual([reason]);
});

it.each(["transaction", "readCommitted"] as const)(
  "sends nothing more of a %s that was aborted, when its request is answered late",
  async (name) => {
    const stop = new AbortController();
    const { texts, client, database } = setUp();
    const query = client.query;
    client.query = async (text, params) => {
      if (text === "LATE") {
        stop.abort(new Error("enough"));
        await new Promise(setImmediate);
      }
      return await query(text, params);
    };
    const late: unknown[] = [];
    const call = database[name](async (tx) => {
      await tx.query("LATE");
      await tx.query("NEXT").catch((error: unknown) => late.push(error)); // The work goes on.
    }, stop.signal);
    await expect(call).rejects.toThrow("enough");
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(texts.slice(1)).toEqual(["LATE"]);
    expect(late).toEqual([expect.objectContaining({ message: "enough" })]);
  },
);

const calls: Readonly<Record<string, (database: PgDatabase) => Promise<unknown>>> = {
  query: (database) => database.query("HANG"),
  transaction: (database) => database.transaction((tx) => tx.query("HANG")),
  readCommitted: (database) => database.readCommitted((tx) => tx.query("HANG")),
};

it.each(Object.entries(calls))(
  "ends the request of a %s that was given up on the server, then closes its connection",
  async (_, call) => {
    const { released, client, pool, database } = setUp({ HANG: new Error("Query read timeout") });
    const seen: unknown[] = [];
    let hangUp = (): void => {};
    class Client extends EventEmitter {
      readonly connection = { startup: () => {}, cancel: (...ids: unknown[]) => seen.push(...ids) };
      constructor(options: { readonly connectionTimeoutMillis: number }) {
        super();
        seen.push(options.connectionTimeoutMillis);
      }
      connect(): Promise<never> {
        this.connection.startup();
        return new Promise((_, reject) => {
          hangUp = () => reject(new Error("Connection terminated unexpectedly"));
        });
      }
    }
    const end = async () => void seen.push("end");
    Object.assign(client, { constructor: Client, processID: 7, secretKey: 8, end });
    Object.assign(pool, { options: {} });
    await expect(call(database)).rejects.toThrow("Query read timeout");
    expect([seen, released]).toEqual([[3_000, 7, 8], []]);
    hangUp();
    await new Promise(setImmediate);
    expect(released).toEqual([]); // The server has been asked, and has not done it.
    client.emit("drain");
    await new Promise(setImmediate);
    expect(seen.at(-1)).toBe("end");
    expect(["drain", "end", "error"].map((event) => client.listenerCount(event))).toEqual([
      0, 0, 0,
    ]);
    expect(released).toEqual([new Error("Query read timeout")]);
  },
);

it("asks for no end of a request that the server has answered", async () => {
  const { released, client, pool, database } = setUp({ HANG: ofServer("57P01") });
  Object.assign(client, { processID: 7, secretKey: 8 });
  Object.assign(pool, { options: {} });
  await expect(database.query("HANG")).rejects.toThrow("57P01");
  expect(released).toEqual([ofServer("57P01")]);
});

const doors: typeof calls = {
  query: (database) => database.query("INSERT"),
  transaction: (database) => database.transaction((tx) => tx.query("INSERT")),
  readCommitted: (database) => database.readCommitted((tx) => tx.query("INSERT")),
  listen: async (database) => {
    const stop = new AbortController();
    const listening = database.listen("a", () => {}, stop.signal);
    await new Promise(setImmediate);
    stop.abort();
    await listening;
  },
};

it.each(
  Object.entries(doors).flatMap(([name, door]) =>
    ["T", "E"].map((status) => [name, status, door] as const),
  ),
)(
  "closes a connection that others have left in a transaction, and uses another for %s (%s)",
  async (_, status, door) => {
    const { texts, released, client, errors, database } = setUp();
    for (const uses of [1, 2]) {
      released.length = 0;
      Object.assign(client, {
        getTransactionStatus: () => {
          if (released.length > 0) return "I";
          if (uses === 1) expect(texts).toEqual([]);
          return status;
        },
      });
      await door(database);
      expect(released[0]).toMatchObject({ message: expect.stringContaining("has left open") });
    }
    expect(errors).toHaveLength(1); // It is told once.
    expect(texts).not.toEqual([]);
  },
);

it("gives up when every connection is inside a transaction", async () => {
  const { texts, released, client, database } = setUp();
  Object.assign(client, { getTransactionStatus: () => "T" });
  await expect(database.query("INSERT")).rejects.toThrow("has left open");
  expect([texts, released.length]).toEqual([[], 11]);
});

const idle: Readonly<Record<string, (tx: Queryable) => Promise<unknown>>> = {
  "a statement": (tx) => tx.query("INSERT"),
  COMMIT: async () => undefined,
};

it.each(
  Object.entries(idle).flatMap(([name, work]) =>
    ["25P03", "25P04", "57P01"].map((code) => [name, code, work] as const),
  ),
)("says why the server has ended the connection before %s: %s", async (_, code, work) => {
  const blind = new Error("Client has encountered a connection error and is not queryable");
  const { released, client, database } = setUp({ INSERT: blind, COMMIT: blind });
  const reason = ofServer(code);
  const lost = database.transaction(async (tx) => {
    client.emit("error", reason);
    await work(tx);
  });
  await expect(lost).rejects.toMatchObject({ message: `error ${code}`, code, cause: blind });
  expect(released).toEqual([reason]);
});

it("gives back a connection that comes after the abort, unused", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const { texts, released, client, pool, database } = setUp();
  const waiting: ((connection: typeof client) => void)[] = [];
  pool.connect = () => new Promise((resolve) => waiting.push(resolve));
  const query = database.query("SELECT", [], stop.signal);
  stop.abort(reason);
  await expect(query).rejects.toBe(reason);
  waiting.shift()?.(client);
  await new Promise(setImmediate);
  expect([texts, released]).toEqual([[], [undefined]]);
});

it("commits the work on one connection, and releases it", async () => {
  const { texts, released, client, database } = setUp();
  const rows = await database.transaction((tx) => tx.query("INSERT", [1, "a"]));
  expect(rows).toEqual([{ text: "INSERT" }]);
  expect(texts).toEqual(["BEGIN", "INSERT 1 a", "COMMIT"]);
  expect(released).toEqual([undefined]);
  expect(client.listenerCount("error")).toBe(0);
});

it("runs nothing once it has ended: the connection may be in another transaction", async () => {
  const { texts, database } = setUp();
  const tx = await database.transaction(async (each) => each);
  await expect(tx.query("INSERT")).rejects.toThrow("transaction has already ended");
  expect(texts).toEqual(["BEGIN", "COMMIT"]);
});

it("rolls back failed work, and rejects with its error", async () => {
  const { texts, released, database } = setUp();
  const error = new Error("no stock");
  await expect(database.transaction(() => Promise.reject(error))).rejects.toBe(error);
  expect(texts).toEqual(["BEGIN", "ROLLBACK"]);
  expect(released).toEqual([undefined]);
});

it("rejects a transaction that the server rolled back at COMMIT", async () => {
  const { texts, database } = setUp({ COMMIT: { command: "ROLLBACK" } });
  await expect(database.transaction(async () => {})).rejects.toThrow(
    "rolled back because a statement failed",
  );
  expect(texts).toEqual(["BEGIN", "COMMIT", "ROLLBACK"]);
});

it("does not reuse a broken connection, and rejects with the first error", async () => {
  const lost = new Error("connection reset");
  const gone = new Error("not connected");
  const { released, database } = setUp({ ROLLBACK: gone });
  await expect(database.transaction(() => Promise.reject(lost))).rejects.toBe(lost);
  expect(released).toEqual([gone]);
});

it("survives a connection that breaks between two statements", async () => {
  const { released, client, database } = setUp();
  const error = new Error("terminated by the administrator");
  await database.transaction(async () => {
    client.emit("error", error);
  });
  expect(released).toEqual([error]);
});

it("survives a broken idle connection, and reports it", async () => {
  const { pool, errors, database } = setUp();
  const error = new Error("terminated by the administrator");
  pool.emit("error", error);
  expect(errors).toEqual([error]);
  expect(await database.query("SELECT", [1])).toEqual([{ text: "SELECT" }]);
});

it("survives a broken idle connection of which nobody wants to hear", () => {
  const { pool } = setUp();
  pool.removeAllListeners();
  new PgDatabase(pool as unknown as Pool);
  expect(() => pool.emit("error", new Error("terminated by the administrator"))).not.toThrow();
});

it("ends the pool", async () => {
  const { texts, database } = setUp();
  await database[Symbol.asyncDispose]();
  expect(texts).toEqual(["end"]);
});
