import { EventEmitter } from "node:events";
import { PgDatabase } from "@holdfast/outbox/postgres";
import { isTerminalError } from "@holdfast/wait";
import type { Pool } from "pg";
import { expect, it, vi } from "vitest";
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
  /** Lets the connection hear the notification that asks whether it hears. */
  const hear = async (): Promise<void> => {
    const [, channel] = /LISTEN "(holdfast_[0-9a-f]{32})"$/.exec(texts[0] ?? "") ?? [];
    client.emit("notification", { channel, payload: "" });
    await new Promise(setImmediate);
  };
  /** Settles the connection, LISTEN, another connection and NOTIFY. */
  const begin = async (): Promise<void> => {
    for (let request = 0; request < 4; request++) await settle();
  };
  const expectNoTrace = (): void => {
    const left = ["notification", "error", "end"].map((event) => client.listenerCount(event));
    expect([left, abortListeners(stop.signal)]).toEqual([[0, 0, 0], 0]);
  };
  const parts = { texts, released, pending, client, heard, stop, listen, settle, expectNoTrace };
  return { ...parts, hear, begin };
}

it("receives notifications until the abort, then ends the connection", async () => {
  const { texts, released, client, heard, stop, listen, begin, hear, expectNoTrace } = setUp();
  const listening = listen();
  await begin();
  await hear();
  client.emit("notification", { payload: "1" });
  client.emit("notification", {});
  stop.abort();
  await listening;
  client.emit("notification", { payload: "2" });
  const [, own] = /"(holdfast_.*)"/.exec(texts[0] ?? "") ?? [];
  expect([texts, heard, released]).toEqual([
    [`LISTEN "saved"; LISTEN "${own}"`, "SELECT pg_notify($1, '')"],
    ["", "1", ""],
    [undefined, true],
  ]);
  expectNoTrace();
});

it("says when it listens, because nobody has heard what was sent before", async () => {
  const { client, heard, stop, listen, begin, hear } = setUp();
  const listening = listen();
  await begin();
  expect(heard).toEqual([]);
  client.emit("notification", { channel: "saved", payload: "1" }); // it may be heard before
  await hear();
  expect(heard).toEqual(["1", ""]);
  stop.abort();
  await listening;
});

it("listens although no connection is free to ask whether it hears", async () => {
  const { heard, stop, listen, settle } = setUp();
  const listening = listen();
  await settle();
  await settle();
  await settle(new Error("timeout exceeded when trying to connect"));
  expect(heard).toEqual([""]);
  stop.abort();
  await listening;
});

it("ends when it hears nothing, as behind a pooler in transaction mode, and leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { texts, heard, released, listen, settle, begin, expectNoTrace } = setUp();
    const refused = expect(listen()).rejects.toSatisfy(isTerminalError);
    await begin();
    for (const attempt of [2, 3]) {
      await vi.advanceTimersByTimeAsync(2_000);
      await settle();
      await settle();
      expect(texts).toHaveLength(1 + attempt);
    }
    expect(released).toEqual([undefined, undefined, undefined]);
    await vi.advanceTimersByTimeAsync(2_000);
    await refused;
    expect([heard, released.at(-1), vi.getTimerCount()]).toEqual([[], true, 0]);
    expectNoTrace();
  } finally {
    vi.useRealTimers();
  }
});

it("ends with an error of the callback that hears of it", async () => {
  const { released, begin, hear, heard, listen, expectNoTrace } = setUp();
  const error = new Error("no");
  heard.push = () => {
    throw error;
  };
  const rejected = expect(listen()).rejects.toBe(error);
  await begin();
  await hear();
  await rejected;
  expect(released).toEqual([undefined, true]);
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
      await settle(new Error("no connection is free"));
      client.emit("error", new Error("terminated"));
    },
    "terminated",
  ],
  [
    "is closed",
    async ({ client, settle }) => {
      await settle();
      await settle(new Error("no connection is free"));
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
