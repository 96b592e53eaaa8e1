import { EventEmitter } from "node:events";
import type { Pool } from "pg";
import { expect, it } from "vitest";
import { PgDatabase } from "../../src/postgres/pg-database.ts";

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
  const { released, database } = setUp({ INSERT: lost, ROLLBACK: gone });
  await expect(database.transaction((tx) => tx.query("INSERT"))).rejects.toBe(lost);
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

it("ends the pool", async () => {
  const { texts, database } = setUp();
  await database[Symbol.asyncDispose]();
  expect(texts).toEqual(["end"]);
});
