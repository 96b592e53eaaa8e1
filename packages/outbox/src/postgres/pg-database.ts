import { abortable, requireFunction, requireMethods } from "@holdfast/clock/internal";
import type { Queryable, Row } from "../store/database.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** The part of a `pg.Pool` that {@link PgDatabase} uses. */
export interface PgPool {
  /** Runs a statement on a connection that is free. */
  query(text: string, values?: unknown[]): Promise<PgResult>;

  /** Returns a free connection. */
  connect(): Promise<PgClient>;

  /** Closes all connections. */
  end(): Promise<void>;

  /** Listens for errors of idle connections. */
  on(event: "error", listener: (error: Error) => void): unknown;

  /** Its settings. */
  readonly options?: {
    /** The number of connections it may have. Without it, the pool has one to spare for listening. */
    readonly max?: number | undefined;
  };
}

/** The part of a `pg.PgClient` that {@link PgDatabase} uses. */
export interface PgClient {
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<PgResult>;

  /** Gives the connection back; with an argument that is true, it is closed. */
  release(error?: Error | boolean): void;

  /** Adds a listener. `end` gives no error. */
  on(event: "error" | "end", listener: (error?: Error) => void): unknown;

  /** Adds a listener for notifications. */
  on(event: "notification", listener: (notification: PgNotification) => void): unknown;

  /** Removes a listener. */
  off(event: "error" | "end", listener: (error?: Error) => void): unknown;

  /** Removes a listener for notifications. */
  off(event: "notification", listener: (notification: PgNotification) => void): unknown;
}

/** The part of a `pg.Notification` that {@link PgDatabase} uses. */
export interface PgNotification {
  /** The text given to `NOTIFY`. */
  readonly payload?: string | undefined;
}

/** The part of a `pg.QueryResult` that {@link PgDatabase} uses. */
export interface PgResult {
  /** The rows. */
  readonly rows: readonly Row[];

  /** The command that the server has run: `COMMIT` or `ROLLBACK`, for example. */
  readonly command: string;
}

/**
 * A PostgreSQL server, through a pool of `pg`.
 *
 * Its settings are those of the pool. Three are worth setting: `connectionTimeoutMillis`, so that a
 * server that hangs is an error; `idle_in_transaction_session_timeout`, so that a process that is
 * suspended in a transaction does not keep its rows locked; and `keepAlive`, so that a connection that
 * listens and was cut is noticed. A relay that listens keeps one connection of the pool, never the
 * last.
 *
 * @example
 * ```ts no-run
 * import { PgDatabase } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * await using database = new PgDatabase(new pg.Pool({ connectionTimeoutMillis: 5_000 }));
 * ```
 */
export class PgDatabase implements PostgresDatabase {
  readonly #pool: PgPool;
  /** The number of connections that listen. */
  #listening = 0;

  /**
   * @param pool - a pool of `pg`; ends with this object
   * @param onError - receives errors of idle connections, which the pool replaces
   * @throws TypeError that names the argument
   */
  constructor(pool: PgPool, onError: (error: Error) => void = () => {}) {
    requireMethods("pool", pool, ["connect", "query", "on", "end"]);
    requireFunction("onError", onError);
    this.#pool = pool;
    pool.on("error", onError); // An error event without a listener ends the process.
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await this.#pool.query(text, [...params]);
    return rows;
  }

  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    const onBreak = (error?: Error): void => {
      failure = error;
    };
    client.on("error", onBreak); // The pool does not listen while a connection is in use.
    try {
      return await inTransaction(client, work);
    } catch (error) {
      await client.query("ROLLBACK").catch((second: Error) => {
        failure = second;
      });
      throw error;
    } finally {
      client.off("error", onBreak);
      client.release(failure); // With an error, the connection is not used again.
    }
  }

  async listen(
    channel: string,
    onNotify: (payload: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    this.#requireSpare();
    this.#listening++;
    try {
      const connect = (): Promise<PgClient> => this.#pool.connect();
      const onLate = (client: PgClient): void => client.release();
      const client = await abortable(connect, signal, onLate);
      await listenUntilLost(client, { channel, onNotify, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#listening--;
    }
  }

  /** Ends the pool, when all its connections have been released. Stop relays first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  /** Without another connection, notified messages could not be claimed. */
  #requireSpare(): void {
    const max = this.#pool.options?.max ?? Number.POSITIVE_INFINITY;
    if (this.#listening + 1 < max) return;
    throw new Error(
      `listening would take the last of ${max} connections of the pool: raise max, or set the relay option listen to false`,
    );
  }
}

async function inTransaction<Value>(
  client: PgClient,
  work: (tx: Queryable) => Promise<Value>,
): Promise<Value> {
  await client.query("BEGIN");
  let state: "open" | "over" = "open";
  const query: Queryable["query"] = async (text, params = []) => {
    // The connection may be in another transaction by now.
    if (state === "over") throw new Error("transaction has already ended");
    return (await client.query(text, [...params])).rows;
  };
  let value: Value;
  try {
    value = await work({ query });
  } finally {
    state = "over";
  }
  const { command } = await client.query("COMMIT");
  // The only sign of PostgreSQL that the caller ignored a failed statement.
  if (command !== "COMMIT") throw new Error("transaction rolled back because a statement failed");
  return value;
}

interface Listening {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly signal: AbortSignal;
}

/** Rejects on abort, or when the connection is lost, and ends it: it still listens. */
async function listenUntilLost(
  client: PgClient,
  { channel, onNotify, signal }: Listening,
): Promise<void> {
  const listener = ({ payload = "" }: PgNotification): void => onNotify(payload);
  let onEnd: (error?: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    onEnd = (error = new Error("the listening connection was closed")) => reject(error);
  });
  client.on("notification", listener);
  client.on("error", onEnd);
  client.on("end", onEnd);
  try {
    client.query(`LISTEN "${channel.replaceAll('"', '""')}"`).catch(onEnd);
    await abortable(() => lost, signal);
  } finally {
    client.release(true); // From here on the pool listens for its errors.
    client.off("notification", listener);
    client.off("error", onEnd);
    client.off("end", onEnd);
  }
}
