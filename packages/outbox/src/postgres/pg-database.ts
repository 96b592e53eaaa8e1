import { abortable } from "@holdfast/clock";
import {
  cancelRequest,
  deferred,
  isOfServer,
  leftTransaction,
  requireFunction,
  requireMethods,
  uuidFrom,
} from "@holdfast/kit";
import { isTimeoutError, TerminalError, withTimeout } from "@holdfast/wait";
import type { Queryable, Row } from "../store/database.ts";
import { type LentConnection, onLent, until } from "../store/lent-connection.ts";
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

  /** Reports each new connection, before it lends it. */
  on(event: "connect", listener: (connection: PgClient) => void): unknown;

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

  /** The channel given to `NOTIFY`. */
  readonly channel?: string | undefined;
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
 * Its settings are those of the pool:
 *
 * | Setting | Why |
 * | --- | --- |
 * | `connectionTimeoutMillis` | a server that hangs, and a pool that is used up, are errors |
 * | `statement_timeout` | the server ends a statement that waits for a lock |
 * | `idle_in_transaction_session_timeout` | a process that is suspended in a transaction does not keep its rows locked |
 * | `query_timeout`, above `statement_timeout` | a network that drops packets silently does not hold a statement of your own for minutes |
 * | `keepAlive` | a connection that listens and was cut is noticed |
 *
 * PgBouncer refuses the second and the third (08P01): behind it, set them by `ALTER ROLE … SET`. A relay that listens
 * keeps one connection of the pool, never the last. Behind a pooler in transaction mode it hears nothing: `listen` rejects
 * with a `TerminalError`.
 *
 * A connection whose request was aborted or timed out is closed, as is one whose server takes no writes
 * (25006): the next request opens another, which may lead to the new primary. The request is ended on the server, too:
 * one that waits for a lock or for a standby would go on there, and keep its connection beside those of the pool.
 *
 * Other code may share the pool. If it has given a connection back inside a transaction, that transaction is rolled
 * back, and `onError` receives an error the first time.
 *
 * @example
 * ```ts no-run
 * import { PgDatabase } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * await using database = new PgDatabase(pool);
 * ```
 */
export class PgDatabase implements PostgresDatabase {
  readonly #pool: PgPool;
  readonly #onError: (error: Error) => void;
  #hasFoundTransaction = false;
  /** The number of connections that listen. */
  #listening = 0;

  /**
   * @param pool - a pool of `pg`; ends with this object
   * @param onError - receives errors of idle connections, which the pool replaces, and one error if the pool has lent a
   * connection inside a transaction
   * @throws TypeError that names the argument
   */
  constructor(pool: PgPool, onError: (error: Error) => void = () => {}) {
    requireMethods("pool", pool, ["connect", "query", "on", "end"]);
    requireFunction("onError", onError);
    this.#pool = pool;
    this.#onError = onError;
    // An error event without a listener ends the process. One that breaks together with its start does so before
    // whoever awaits it could listen, and rejects their statement.
    pool.on("error", onError);
    pool.on("connect", (connection) => connection.on("error", () => {}));
  }

  async query(
    text: string,
    params: readonly unknown[] = [],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const { rows } = await this.#use((connection) => connection.run(text, params), signal);
    return rows;
  }

  transaction<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    return this.#use((connection) => inTransaction(connection, "BEGIN", work), signal);
  }

  readCommitted<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
    return this.#use((connection) => inTransaction(connection, begin, work), signal);
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
      const client = await this.#lend(signal);
      const notify = (own: string): Promise<unknown> =>
        this.query("SELECT pg_notify($1, '')", [own], signal);
      await listenUntilLost(client, { channel, onNotify, notify, signal });
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

  #use<Value>(
    work: (connection: Connection) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const lend = async (): Promise<Connection> =>
      new Connection(await this.#lend(signal), this.#pool.options);
    return onLent(lend, work, signal);
  }

  /** A connection outside of transactions: one that others have left inside one is closed, which rolls it back. */
  async #lend(signal?: AbortSignal): Promise<PgClient> {
    const connect = (): Promise<PgClient> => this.#pool.connect();
    for (let left = this.#pool.options?.max ?? 10; ; left--) {
      const client = await until(signal, connect, (late) => late.release());
      const problem = leftTransaction(client);
      if (problem === undefined) return client;
      client.release(problem);
      if (left === 0) throw problem;
      if (!this.#hasFoundTransaction) this.#onError(problem);
      this.#hasFoundTransaction = true;
    }
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

/**
 * A connection in use. It is closed after its use if its state is unknown, or if its server takes no writes: after a
 * failover the same address may lead to a standby.
 */
class Connection implements LentConnection {
  readonly #client: PgClient;
  readonly #options: PgPool["options"];
  #failure: Error | undefined;
  /** Why the connection broke, if it did so by itself. */
  #broken: Error | undefined;
  /** Whether the server has a request that it has not answered. */
  #isWaiting = false;
  readonly #onBreak = (error: Error = new Error("connection ended")): void => {
    this.#broken ??= error;
    this.fail(error);
  };

  constructor(client: PgClient, options: PgPool["options"]) {
    this.#client = client;
    this.#options = options;
    client.on("error", this.#onBreak); // The pool does not listen while a connection is in use.
  }

  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  async run(text: string, params: readonly unknown[] = []): Promise<PgResult> {
    // Its work may go on after an abort, and must not commit: no one would end that request.
    if (this.#failure !== undefined && this.#broken === undefined) throw this.#failure;
    this.#isWaiting = true;
    try {
      const result = await this.#client.query(text, [...params]);
      this.#isWaiting = false;
      return result;
    } catch (error) {
      this.#isWaiting = !isOfServer(error);
      if (!leavesUsable(error)) this.fail(error);
      throw this.#explained(error);
    }
  }

  fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }

  /** A request that was given up is ended on the server, too, before the pool may open another connection. */
  release(): void {
    const release = (): void => {
      this.#client.off("error", this.#onBreak);
      this.#client.release(this.#failure); // With an error, the connection is not used again.
    };
    const isGivenUp = this.#isWaiting && !this.isUsable;
    const cancelled = isGivenUp
      ? cancelRequest(this.#client, this.#options, withTimeout)
      : undefined;
    if (cancelled === undefined) release();
    else void cancelled.then(release);
  }

  /** The driver says of a connection that the server has ended that it "is not queryable"; the server said why. */
  #explained(error: unknown): unknown {
    const cause = this.#broken;
    if (cause === undefined || error === cause || isOfServer(error)) return error;
    const { code } = cause as { readonly code?: unknown };
    return Object.assign(new Error(cause.message, { cause: error }), { code });
  }
}

/**
 * SQLSTATE after which another connection may do better: connection exceptions, a server that ends, or that has ended
 * the connection because of an idle or a long transaction.
 */
const OTHER_CONNECTION = /^(?:08|57P|25P0[34])/;
const READ_ONLY = "25006";

/** Whether an error is a server's own, on a connection that goes on. */
function leavesUsable(error: unknown): boolean {
  return isOfServer(error) && error.code !== READ_ONLY && !OTHER_CONNECTION.test(error.code);
}

async function inTransaction<Value>(
  connection: Connection,
  begin: string,
  work: (tx: Queryable) => Promise<Value>,
): Promise<Value> {
  let state: "open" | "over" = "open";
  const query: Queryable["query"] = async (text, params) => {
    // The connection may be in another transaction by now.
    if (state === "over") throw new Error("transaction has already ended");
    return (await connection.run(text, params)).rows;
  };
  try {
    await connection.run(begin);
    const value = await work({ query });
    state = "over";
    const { command } = await connection.run("COMMIT");
    // The only sign of PostgreSQL that the caller ignored a failed statement.
    if (command !== "COMMIT") throw new Error("transaction rolled back because a statement failed");
    return value;
  } catch (error) {
    state = "over";
    if (connection.isUsable)
      await connection.run("ROLLBACK").catch(connection.fail.bind(connection));
    throw error;
  }
}

/** How often a connection that listens is asked whether it hears, and for how long each time, in milliseconds. */
const HEARING = { attempts: 3, time: 2_000 };

interface Listening {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  /** Sends a notification on another connection. */
  readonly notify: (channel: string) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** Rejects on abort, or when the connection is lost, and ends it: it still listens. */
async function listenUntilLost(
  client: PgClient,
  { channel, onNotify, notify, signal }: Listening,
): Promise<void> {
  const own = `holdfast_${uuidFrom(undefined).replaceAll("-", "")}`;
  const { promise: heard, resolve: onHeard } = deferred<void>();
  const listener = ({ channel: from, payload = "" }: PgNotification): void =>
    from === own ? onHeard() : onNotify(payload);
  const { promise: lost, reject } = deferred<never>();
  const onEnd = (error = new Error("the listening connection was closed")): void => reject(error);
  client.on("notification", listener);
  client.on("error", onEnd);
  client.on("end", onEnd);
  const begin = async (): Promise<void> => {
    await client.query(`LISTEN "${channel.replaceAll('"', '""')}"; LISTEN "${own}"`);
    if (!signal.aborted) await requireHearing(heard, () => notify(own), signal);
    if (!signal.aborted) onNotify("");
  };
  try {
    begin().catch(onEnd);
    await abortable(() => lost, signal);
  } finally {
    client.release(true); // From here on the pool listens for its errors.
    client.off("notification", listener);
    client.off("error", onEnd);
    client.off("end", onEnd);
  }
}

/**
 * Behind a pooler that lends a server connection for each transaction, `LISTEN` succeeds and nothing is ever heard. The
 * connection that sends must be another one: a pooler may give both statements of one connection to one server
 * connection, which hears itself.
 *
 * @throws TerminalError if nothing is heard
 */
async function requireHearing(
  heard: Promise<void>,
  notify: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < HEARING.attempts; attempt++) {
    try {
      await notify();
    } catch {
      return; // No connection is free, or the server is in trouble: that says nothing.
    }
    try {
      return await withTimeout(() => heard, HEARING.time, { signal, label: "hearing" });
    } catch (error) {
      if (!isTimeoutError(error)) throw error;
    }
  }
  throw new TerminalError(
    "LISTEN hears nothing on this connection, as behind a pooler in transaction mode; messages of other processes are found by pollInterval. Give the relay a PgDatabase whose pool connects to the server itself, or set the relay option listen to false",
  );
}
