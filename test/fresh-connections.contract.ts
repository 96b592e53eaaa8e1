import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";

/** A place that keeps a connection after its use. */
export interface Door {
  /** Uses a connection. Rejects if it has gone bad, or waits for ever. */
  readonly use: (signal: AbortSignal) => Promise<unknown>;

  /** Number of the connection of each use so far, from 1. */
  readonly used: readonly number[];

  /** Ways in which the connections that are open now go bad, for good. */
  readonly ways: Readonly<Record<string, () => unknown>>;
}

/** Statements that a server takes in any state. */
const CONTROL = /^(BEGIN|START|SET|COMMIT|ROLLBACK)/;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until a use has its connection, or has failed, and then a little for its response. */
async function begun(use: Promise<unknown>, hasConnection: () => boolean): Promise<void> {
  let isOver = false;
  const onOver = (): void => {
    isOver = true;
  };
  use.then(onOver, onOver);
  while (!isOver && !hasConnection()) await turn();
  for (let turns = 0; turns < 5; turns++) await turn();
}

/** The rule: a connection that is no longer what it was is not used again. */
export function testFreshConnections(
  doors: Readonly<Record<string, () => Door | Promise<Door>>>,
  ways: Iterable<string>,
): void {
  const rows = Object.entries(doors).flatMap(([name, open]) =>
    [...ways].map((way) => [name, way, open] as const),
  );
  describe.each(rows)("%s, whose connection %s", (_, way, open) => {
    it("takes another one", async () => {
      const { use, used, ways } = await open();
      const { signal } = new AbortController();
      await use(signal);
      await use(signal);
      expect(used).toEqual([1, 1]); // a healthy one is kept
      await ways[way]?.();
      const stop = new AbortController();
      const last = use(stop.signal);
      await begun(last, () => used.length === 3);
      stop.abort("gave up");
      await last.catch(() => "failed");
      const next = use(signal);
      await begun(next, () => used.length === 4);
      expect(used[3]).not.toBe(1);
      await next;
    });
  });
}

/** What a connection does from now on: each request fails, or has no answer. */
type Fate = Error | "silence";

/** Connections of a pool, of which one is idle after its use unless it was closed. */
export class Connections {
  readonly used: number[] = [];
  readonly #fates = new Map<number, Fate>();
  readonly #idle: number[] = [];
  #opened = 0;

  take(): number {
    const taken = this.#idle.pop() ?? ++this.#opened;
    this.used.push(taken);
    return taken;
  }

  giveBack(taken: number): void {
    this.#idle.push(taken);
  }

  /** Answers a statement on a connection. */
  async answer<Response>(taken: number, sql: string, response: Response): Promise<Response> {
    const fate = this.#fates.get(taken);
    if (fate === "silence") return await new Promise<never>(() => {});
    if (fate !== undefined && !CONTROL.test(sql)) throw fate;
    return response;
  }

  /** A door to them, by one use, and the ways in which all that are open meet their fate. */
  door(use: Door["use"], fates: Readonly<Record<string, Fate>>): Door {
    const meet = (fate: Fate) => (): void => {
      for (let each = 1; each <= this.#opened; each++) this.#fates.set(each, fate);
    };
    const ways = Object.entries(fates).map(([way, fate]) => [way, meet(fate)] as const);
    return { use, used: this.used, ways: Object.fromEntries(ways) };
  }
}

function failure(fields: object): Error {
  return Object.assign(new Error("it went bad"), fields);
}

/** The ways of a PostgreSQL server and its network. */
export const POSTGRES_WAYS: Readonly<Record<string, Fate>> = {
  "has become read-only": failure({ code: "25006" }),
  "was ended by its server": failure({ code: "57P01" }),
  "was ended in an idle transaction": failure({ code: "25P03" }),
  "was ended in a long transaction": failure({ code: "25P04" }),
  "was reset": failure({ code: "ECONNRESET" }),
  "was forgotten, until the driver timed out": new Error("Query read timeout"),
  "was forgotten, until the caller gave up": "silence",
};

/** A pool of `pg`. */
export function pgPool(): {
  pool: EventEmitter & Record<string, unknown>;
  connections: Connections;
} {
  const connections = new Connections();
  const connect = async () => {
    const taken = connections.take();
    const response = (command: string) => ({ rows: [{ version: "1" }], command });
    return Object.assign(new EventEmitter(), {
      query: (text: string) => connections.answer(taken, text, response(text)),
      release: (error?: unknown) => {
        if (!error) connections.giveBack(taken);
      },
    });
  };
  const pool = Object.assign(new EventEmitter(), { connect, query() {}, end() {}, totalCount: 0 });
  return { pool: pool as never, connections };
}

/** The ways of a MySQL or MariaDB server and its network. */
export const MYSQL_WAYS: Readonly<Record<string, Fate>> = {
  "has become read-only (--read-only)": failure({ errno: 1290 }),
  "has become read-only (transaction)": failure({ errno: 1792 }),
  "has become read-only (server)": failure({ errno: 1836 }),
  "has become read-only (InnoDB)": failure({ errno: 1874 }),
  "has lost its cluster": failure({ errno: 1047 }),
  "was ended by a shutdown": failure({ errno: 1053 }),
  "was ended by its server (MySQL)": failure({ errno: 4031 }),
  "was ended by its server (MariaDB)": failure({ errno: 1927 }),
  "was reset": failure({ code: "ECONNRESET", errno: -104, fatal: true }),
  "was forgotten, until the driver timed out": failure({ code: "PROTOCOL_SEQUENCE_TIMEOUT" }),
  "was forgotten, until the caller gave up": "silence",
};

/** A pool of `mysql2/promise`. */
export function mysqlPool(): {
  pool: EventEmitter & Record<string, unknown>;
  connections: Connections;
} {
  const connections = new Connections();
  const getConnection = async () => {
    const taken = connections.take();
    const run = ({ sql }: { sql: string }) => {
      const response = [{ affectedRows: 1, serverStatus: 3 }, []];
      return connections.answer(taken, sql, response);
    };
    return Object.assign(new EventEmitter(), {
      query: run,
      execute: run,
      release: () => connections.giveBack(taken),
      destroy() {},
    });
  };
  const methods = { getConnection, query() {}, execute() {}, end() {} };
  return { pool: Object.assign(new EventEmitter(), methods) as never, connections };
}
