import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";

const { signal } = new AbortController();
const record = { holder: "a", leaseDuration: 1_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };

/** What a pool has done with its connections, and how it responds. */
interface World {
  readonly seen: string[];
  respond: () => Promise<never>;
}

/** The row that a `RETURNING` gives back: a write that has worked. */
const ROW = {
  ...{ version: "1", holder: "a", lease_duration: 1, acquired_at: 1, renewed_at: 2 },
  transitions: 3,
};

const pools = {
  PostgresLock: () => {
    const world: World = { seen: [], respond: async () => ({ rows: [ROW] }) as never };
    let listeners = 0;
    const connection = {
      query: () => world.respond(),
      release: (destroy?: boolean) => world.seen.push(destroy ? "closed" : "released"),
      on: () => ++listeners,
      off: () => --listeners,
    };
    const query = () => world.respond();
    const client = { totalCount: 0, query, connect: async () => connection };
    return { world, lock: new PostgresLock(client, { name: "a" }), listeners: () => listeners };
  },
  MySqlLock: () => {
    const world: World = { seen: [], respond: async () => [{ affectedRows: 1 }, []] as never };
    const connection = {
      execute: () => world.respond(),
      release: () => world.seen.push("released"),
      destroy: () => world.seen.push("closed"),
    };
    const execute = () => world.respond();
    const client = { execute, getConnection: async () => connection };
    return { world, lock: new MySqlLock(client, { name: "a" }), listeners: () => 0 };
  },
};

describe.each(Object.entries(pools))("a %s on a pool", (_, make) => {
  it("gives a connection back after a response", async () => {
    const { world, lock, listeners } = make();
    await lock.update(record, "1", signal);
    expect([world.seen, listeners()]).toEqual([["released"], 0]);
  });

  it("closes a connection whose request has failed, and rejects with its error", async () => {
    const { world, lock, listeners } = make();
    const error = new Error("cannot execute UPDATE in a read-only transaction");
    world.respond = () => Promise.reject(error);
    for (const request of [
      lock.get(signal),
      lock.create(record, signal),
      lock.update(record, "1", signal),
      lock.createTable(),
    ])
      expect(await errorOf(request)).toBe(error);
    expect([world.seen, listeners()]).toEqual([["closed", "closed", "closed", "closed"], 0]);
  });

  it("closes a connection whose request was aborted, at once", async () => {
    const { world, lock, listeners } = make();
    world.respond = () => new Promise(() => {});
    const stop = new AbortController();
    const request = errorOf(lock.update(record, "1", stop.signal));
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await request).toBe(reason);
    expect([world.seen, listeners()]).toEqual([["closed"], 0]);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("gives a connection back that comes after the abort", async () => {
    const { world, lock } = make();
    const stop = new AbortController();
    const request = errorOf(lock.update(record, "1", stop.signal));
    stop.abort();
    expect(await request).toBe(stop.signal.reason);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(world.seen).toEqual(["released"]);
  });
});
