import { EventEmitter } from "node:events";
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

/** A pool that lends one connection, and says so as those of the drivers do: before anyone has it. */
class Pool extends EventEmitter {
  readonly totalCount = 0;
  readonly connection: EventEmitter;

  constructor(connection: EventEmitter) {
    super();
    this.connection = connection;
  }

  readonly connect = async () => this.#lend() as never;
  readonly getConnection = async () => this.#lend() as never;
  readonly query = async () => undefined as never;
  readonly execute = async () => undefined as never;

  #lend(): EventEmitter {
    this.emit("acquire", this.connection);
    return this.connection;
  }
}

const pools = {
  PostgresLock: () => {
    const world: World = { seen: [], respond: async () => ({ rows: [ROW] }) as never };
    const connection = Object.assign(new EventEmitter(), {
      query: () => world.respond(),
      release: (destroy?: boolean) => world.seen.push(destroy ? "closed" : "released"),
    });
    const pool = new Pool(connection);
    const make = () => new PostgresLock(pool, { name: "a" });
    return { world, pool, make, lock: make() };
  },
  MySqlLock: () => {
    const world: World = { seen: [], respond: async () => [{ affectedRows: 1 }, []] as never };
    const connection = Object.assign(new EventEmitter(), {
      execute: () => world.respond(),
      release: () => world.seen.push("released"),
      destroy: () => world.seen.push("closed"),
    });
    const pool = new Pool(connection);
    const make = () => new MySqlLock(pool, { name: "a" });
    return { world, pool, make, lock: make() };
  },
};

describe.each(Object.entries(pools))("a %s on a pool", (_, make) => {
  it("gives a connection back after a response", async () => {
    const { world, lock } = make();
    await lock.update(record, "1", signal);
    expect(world.seen).toEqual(["released"]);
  });

  it("closes a connection whose request has failed, and rejects with its error", async () => {
    const { world, lock } = make();
    const error = new Error("cannot execute UPDATE in a read-only transaction");
    world.respond = () => Promise.reject(error);
    for (const request of [
      lock.get(signal),
      lock.create(record, signal),
      lock.update(record, "1", signal),
      lock.createTable(),
    ])
      expect(await errorOf(request)).toBe(error);
    expect(world.seen).toEqual(["closed", "closed", "closed", "closed"]);
  });

  it("closes a connection whose request was aborted, at once", async () => {
    const { world, lock } = make();
    world.respond = () => new Promise(() => {});
    const stop = new AbortController();
    const requests = [lock.update(record, "1", stop.signal), lock.createTable(stop.signal)].map(
      errorOf,
    );
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await Promise.all(requests)).toEqual([reason, reason]);
    expect(world.seen).toEqual(["closed", "closed"]);
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

  it("listens for errors of its connections while they are lent, once for all locks", async () => {
    const { pool, make: another } = make();
    const locks = Array.from({ length: 20 }, another);
    const breaks = (connection: EventEmitter): void => {
      connection.emit("error", new Error("the server was killed"));
      connection.emit("error", new Error("cannot write in closed state"));
    };
    pool.on("acquire", breaks);
    for (const lock of locks) await lock.update(record, "1", signal);
    expect(pool.listeners("acquire")).toHaveLength(2); // the test's own, and one
    expect(pool.connection.listenerCount("error")).toBe(1);
  });

  it("does without the events of a pool that has none", async () => {
    const { world, pool, make: another } = make();
    Object.assign(pool, { on: undefined, off: undefined });
    await another().update(record, "1", signal);
    expect(world.seen).toEqual(["released"]);
  });
});

it.each(["T", "E"])(
  "a PostgresLock refuses a connection that was left in a transaction (%s)",
  async (status) => {
    const { world, pool, lock } = pools.PostgresLock();
    Object.assign(pool.connection, { getTransactionStatus: () => status });
    await expect(lock.update(record, "1", signal)).rejects.toThrow(
      /another part of the program has left open/,
    );
    expect(world.seen).toEqual(["closed"]);
  },
);

/** A connection of `mysql2` without promises: a new one asks the server about the first. */
class RawConnection {
  readonly threadId = 7;
  readonly stream = { localPort: 5 };
  readonly config: { readonly asked: string[] };

  constructor(_pool: undefined, { config }: { readonly config: { readonly asked: string[] } }) {
    this.config = config;
  }

  query({ sql }: { readonly sql: string }, onEnd: (error: null, rows: readonly object[]) => void) {
    this.config.asked.push(sql);
    onEnd(null, [{ Id: 7, Host: "localhost:5" }]);
  }
  on(): void {}
  destroy(): void {}
}

it.each<[from: string, fields: object, asked: readonly string[]]>([
  ["the server", { errno: 1290 }, []],
  ["the driver", { code: "PROTOCOL_SEQUENCE_TIMEOUT" }, ["SHOW PROCESSLIST", "KILL QUERY 7"]],
  ["Node", { errno: -104, code: "ECONNRESET" }, ["SHOW PROCESSLIST", "KILL QUERY 7"]],
])(
  "a MySqlLock ends a request at the server unless that has answered: an error of %s",
  async (_, fields, asked) => {
    const { world, lock, pool } = pools.MySqlLock();
    const config = { asked: [] };
    Object.assign(pool.connection, { connection: new RawConnection(undefined, { config }) });
    const error = Object.assign(new Error("it failed"), fields);
    world.respond = () => Promise.reject(error);
    expect(await errorOf(lock.update(record, "1", signal))).toBe(error);
    await expect.poll(() => world.seen).toEqual(["closed"]);
    expect(config.asked).toEqual(asked);
  },
);
