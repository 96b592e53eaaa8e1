import { EventEmitter } from "node:events";
import { PgDatabase } from "@holdfast/outbox/postgres";
import type { Pool } from "pg";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

type Settle = (error?: Error) => void;

/** A pool that connects, and a connection that answers, when a test says so. */
function setUp({ max = 2 } = {}) {
  const texts: string[] = [];
  const released: unknown[] = [];
  const pending: Settle[] = [];
  const answer = <Value>(value: Value): Promise<Value> =>
    new Promise((resolve, reject) => {
      pending.push((error) => (error === undefined ? resolve(value) : reject(error)));
    });
  const client = Object.assign(new EventEmitter(), {
    escapeIdentifier: (text: string) => `"${text}"`,
    query: (text: string) => {
      texts.push(text);
      return answer({ rows: [] });
    },
    release: (destroy?: boolean) => released.push(destroy),
  });
  const pool = Object.assign(new EventEmitter(), {
    options: { max },
    connect: () => answer(client),
    query: () => answer({ rows: [] }),
    end: async () => undefined,
  });
  const database = new PgDatabase(pool as unknown as Pool);
  const heard: string[] = [];
  const stop = new AbortController();
  const listen = () => database.listen("saved", (payload) => heard.push(payload), stop.signal);
  /** Settles the oldest request, and lets what waits for it go on. */
  const settle = async (error?: Error): Promise<void> => {
    pending.shift()?.(error);
    await new Promise(setImmediate);
  };
  const expectNoTrace = (): void => {
    const left = ["notification", "error", "end"].map((event) => client.listenerCount(event));
    expect([left, abortListeners(stop.signal)]).toEqual([[0, 0, 0], 0]);
  };
  return { texts, released, pending, client, heard, stop, listen, settle, expectNoTrace };
}

it("receives notifications until the abort, then ends the connection", async () => {
  const { texts, released, client, heard, stop, listen, settle, expectNoTrace } = setUp();
  const listening = listen();
  await settle();
  await settle();
  client.emit("notification", { payload: "1" });
  client.emit("notification", {});
  stop.abort();
  await listening;
  client.emit("notification", { payload: "2" });
  expect([texts, heard, released]).toEqual([['LISTEN "saved"'], ["", "1", ""], [true]]);
  expectNoTrace();
});

it("says when it listens, because nobody has heard what was sent before", async () => {
  const { heard, stop, listen, settle } = setUp();
  const listening = listen();
  await settle();
  expect(heard).toEqual([]);
  await settle();
  expect(heard).toEqual([""]);
  stop.abort();
  await listening;
});

it("ends with an error of the callback that hears of it", async () => {
  const { released, settle, heard, listen, expectNoTrace } = setUp();
  const error = new Error("no");
  heard.push = () => {
    throw error;
  };
  const rejected = expect(listen()).rejects.toBe(error);
  await settle();
  await settle();
  await rejected;
  expect(released).toEqual([true]);
  expectNoTrace();
});

it("does not connect after the abort", async () => {
  const { pending, stop, listen } = setUp();
  stop.abort();
  await listen();
  expect(pending).toEqual([]);
});

it("ends at once when aborted while it waits for a connection, and releases that", async () => {
  const { released, stop, listen, settle, expectNoTrace } = setUp();
  const listening = listen();
  stop.abort();
  await listening;
  expect(released).toEqual([]);
  await settle();
  expect(released).toEqual([undefined]);
  expectNoTrace();
});

it("ends at once when aborted before the server has answered", async () => {
  const { heard, released, stop, listen, settle, expectNoTrace } = setUp();
  const listening = listen();
  await settle();
  stop.abort();
  await listening;
  expect(released).toEqual([true]);
  await settle(new Error("Connection terminated"));
  expect(heard).toEqual([]);
  expectNoTrace();
});

it("rejects without a connection", async () => {
  const { listen, settle, expectNoTrace } = setUp();
  const refused = new Error("ECONNREFUSED");
  const listening = listen();
  const rejected = expect(listening).rejects.toBe(refused);
  await settle(refused);
  await rejected;
  expectNoTrace();
});

it.each<[string, (parts: ReturnType<typeof setUp>) => Promise<unknown> | unknown, string]>([
  ["is refused", ({ settle }) => settle(new Error("denied")), "denied"],
  [
    "breaks before the server has answered",
    ({ client }) => client.emit("error", new Error("reset")),
    "reset",
  ],
  [
    "breaks later",
    async ({ client, settle }) => {
      await settle();
      client.emit("error", new Error("terminated"));
    },
    "terminated",
  ],
  [
    "is closed",
    async ({ client, settle }) => {
      await settle();
      client.emit("end");
    },
    "the listening connection was closed",
  ],
])("rejects when the connection %s, and ends it", async (_, fail, problem) => {
  const parts = setUp();
  const rejected = expect(parts.listen()).rejects.toThrow(problem);
  await parts.settle();
  await fail(parts);
  await rejected;
  expect(parts.released).toEqual([true]);
  parts.expectNoTrace();
});

it("never takes the last connection of the pool, and listens again after its connection has ended", async () => {
  const { stop, listen, settle } = setUp({ max: 2 });
  const rejected = expect(listen()).rejects.toThrow("first");
  await expect(listen()).rejects.toThrow(
    "listening would take the last of 2 connections of the pool: raise max, or set the relay option listen to false",
  );
  await settle(new Error("first"));
  await rejected;
  const listening = listen();
  await settle();
  stop.abort();
  await listening;
});
