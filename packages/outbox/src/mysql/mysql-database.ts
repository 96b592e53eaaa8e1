import {
  AUTOCOMMIT,
  endRequest,
  mysqlNumberOf,
  NEXT_READS_COMMITTED,
  READING,
  requireFunction,
  requireMethods,
  TRANSACTION_IS_OPEN,
} from "@holdfast/kit";
import { withTimeout } from "@holdfast/wait";
import type { Queryable, Row } from "../store/database.ts";
import { type LentConnection, onLent } from "../store/lent-connection.ts";
import type { SessionDatabase } from "./migrate.ts";
import { hasNumber, type ReadCommittedDatabase } from "./read-committed.ts";

/** A statement with the options of `mysql2`. */
export interface MySqlStatement {
  /** The text. */
  sql: string;

  /** The values of a prepared statement. */
  values?: unknown[];
}

/** The part of a pool and of a connection of `mysql2/promise` that runs statements. */
export interface MySqlRunner {
  /** Runs a text. */
  query(statement: MySqlStatement): Promise<[unknown, unknown]>;

  /** Prepares a statement, and runs it. */
  execute(statement: MySqlStatement): Promise<[unknown, unknown]>;
}

/** The part of a connection of `mysql2/promise` that {@link MySqlDatabase} uses. */
export interface MySqlConnection extends MySqlRunner {
  /** Gives it back to the pool. */
  release(): void;

  /** Closes it: the pool does not use it again. */
  destroy(): void;
}

/** The part of a pool of `mysql2/promise` that {@link MySqlDatabase} uses. */
export interface MySqlPool extends MySqlRunner {
  /** Returns a free connection. */
  getConnection(): Promise<MySqlConnection>;

  /** Closes all connections. */
  end(): Promise<void>;

  /** Reports each new connection. */
  on(event: "connection", listener: (connection: MySqlErrors) => void): unknown;
}

/** The errors of a connection. */
export interface MySqlErrors {
  /** Adds a listener. */
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The bit of the server's status that says that a transaction is open. */
const IN_TRANSACTION = 1;

/** Changes nothing of a connection; as that of {@link NEXT_READS_COMMITTED}, its response has its status. */
const NOTHING = "DO 0";

/**
 * A MySQL or MariaDB server, through a pool of `mysql2/promise`.
 *
 * Its settings are those of the pool. Leave `charset` at the driver's default, `utf8mb4`. Statements with
 * parameters are prepared, so that no `sql_mode` changes the meaning of a text. A statement outside of a transaction
 * commits, also if `autocommit` is off.
 *
 * Other code may share the pool. If it has given a connection back inside a transaction, that transaction is rolled
 * back, and `onError` receives an error the first time.
 *
 * A connection whose request was aborted or timed out is closed, as is one whose server takes no writes
 * (1047, 1290, 1792, 1836, 1874): the next request opens another, which may lead to the new primary. The request is ended
 * on the server, too (`KILL QUERY`): one that waits for a lock would go on there, and keep its connection beside those of the
 * pool.
 *
 * @example
 * ```ts no-run
 * import { MySqlDatabase } from "@holdfast/outbox/mysql";
 * import { createPool } from "mysql2/promise";
 *
 * await using database = new MySqlDatabase(createPool("mysql://shop@127.0.0.1/shop"));
 * ```
 */
export class MySqlDatabase implements ReadCommittedDatabase, SessionDatabase {
  readonly #pool: MySqlPool;
  readonly #onError: (error: Error) => void;
  #hasFoundTransaction = false;
  /** Why connections were lost. */
  readonly #lost = new WeakMap<object, Error>();

  /**
   * @param pool - a new pool of `mysql2/promise`; ends with this object
   * @param onError - receives errors of connections that break, which the pool replaces, and one error if the pool has
   * lent a connection inside a transaction
   */
  constructor(pool: MySqlPool, onError: (error: Error) => void = () => {}) {
    requireMethods("pool", pool, ["getConnection", "query", "execute", "on", "end"]);
    requireFunction("onError", onError);
    this.#pool = pool;
    this.#onError = onError;
    // The pool listens for one error of each. A second one without a listener ends the process.
    pool.on("connection", (connection) =>
      connection.on("error", (error) => {
        if (!this.#lost.has(connection)) this.#lost.set(connection, error);
        onError(error);
      }),
    );
  }

  query(
    text: string,
    params: readonly unknown[] = [],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    return this.#use((connection) => committed(connection, text, params), { signal });
  }

  transaction<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    return this.#use((connection) => inTransaction(connection, work, START), { signal });
  }

  readCommitted<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const first = NEXT_READS_COMMITTED;
    return this.#use((connection) => inTransaction(connection, work, START), { signal, first });
  }

  session<Value>(work: (session: Queryable) => Promise<Value>): Promise<Value> {
    return this.#use(async (connection) => {
      try {
        return await work({ query: (text, params = []) => committed(connection, text, params) });
      } catch (error) {
        connection.fail(); // It may have a lock.
        throw error;
      }
    });
  }

  /** Ends the pool. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  /** @param first - the statement that asks for the state of the connection */
  #use<Value>(
    work: (connection: Connection) => Promise<Value>,
    { signal, first = NOTHING }: { signal?: AbortSignal | undefined; first?: string } = {},
  ): Promise<Value> {
    const lend = async (): Promise<Connection> => {
      const lent: MySqlConnection & { readonly connection?: object } =
        await this.#pool.getConnection();
      return new Connection(lent, () => this.#lost.get(lent.connection ?? lent));
    };
    const onFree = (connection: Connection): Promise<Value> =>
      connection
        .isFree(first)
        .then((isFree) => (isFree ? undefined : this.#endTransactionOfOthers(connection, first)))
        .then(() => work(connection));
    return onLent(lend, onFree, signal);
  }

  /** The start of a transaction would commit one that is open. */
  async #endTransactionOfOthers(connection: Connection, first: string): Promise<void> {
    await connection.query({ sql: "ROLLBACK" });
    await connection.isFree(first);
    if (this.#hasFoundTransaction) return;
    this.#hasFoundTransaction = true;
    this.#onError(
      new Error(
        "the pool lent a connection inside a transaction, which was rolled back: commit or roll back before you release a connection",
      ),
    );
  }
}

/**
 * A connection in use. It is closed after its use if its state is unknown, or if its server takes no writes: after a
 * failover the same address may lead to a replica.
 */
class Connection implements MySqlRunner, LentConnection {
  readonly #connection: MySqlConnection;
  /** Whether statements outside of transactions commit. */
  commits = true;
  /** Whether the server has a request that it has not answered. */
  #isWaiting = false;
  #state: "usable" | "destroyed" = "usable";
  readonly #lost: () => Error | undefined;

  /** @param lost - returns why it was lost */
  constructor(connection: MySqlConnection, lost: () => Error | undefined) {
    this.#connection = connection;
    this.#lost = lost;
  }

  get isUsable(): boolean {
    return this.#state === "usable";
  }

  /** Whether it is outside of transactions, by the response to a statement. */
  async isFree(sql: string): Promise<boolean> {
    try {
      const status = statusOf(await this.query({ sql }));
      this.commits = (status & AUTOCOMMIT) !== 0;
      return (status & IN_TRANSACTION) === 0;
    } catch (error) {
      if (hasNumber(error, TRANSACTION_IS_OPEN)) return false;
      throw error;
    }
  }

  query(statement: MySqlStatement): Promise<[unknown, unknown]> {
    return this.#run(() => this.#connection.query(statement));
  }

  execute(statement: MySqlStatement): Promise<[unknown, unknown]> {
    return this.#run(() => this.#connection.execute(statement));
  }

  /** A request that was given up is ended on the server, too, before the pool may open another connection. */
  fail(): void {
    if (!this.isUsable) return;
    this.#state = "destroyed";
    const ended = this.#isWaiting ? endRequest(this.#connection, withTimeout) : undefined;
    if (ended === undefined) this.#connection.destroy();
    else void ended.then(() => this.#connection.destroy());
  }

  release(): void {
    if (this.#state === "usable") this.#connection.release();
  }

  async #run(request: () => Promise<[unknown, unknown]>): Promise<[unknown, unknown]> {
    if (!this.isUsable) throw new Error("connection was closed after an error");
    const lost = this.#lost();
    this.#isWaiting = true;
    try {
      const response = await request();
      this.#isWaiting = false;
      return response;
    } catch (error) {
      this.#isWaiting = mysqlNumberOf(error) === undefined;
      if (!leavesUsable(error)) this.fail();
      throw lost === undefined ? error : lostBefore(lost, error);
    }
  }
}

/** The driver says of a connection that the server has closed that it "is in closed state". */
function lostBefore({ message, ...facts }: Error, cause: unknown): Error {
  const text = `the connection was lost before this statement, which was not sent: ${message}`;
  return Object.assign(new Error(text, { cause }), facts);
}

/**
 * Errors of a server that takes no writes: a node without its cluster, --read-only, a read-only transaction or session,
 * read-only mode, read-only InnoDB.
 */
const READ_ONLY: readonly unknown[] = [1047, 1290, 1792, 1836, 1874];

/** Errors with which a server ends a connection: a shutdown, an idle connection (MySQL), a killed one (MariaDB). */
const ENDED: readonly unknown[] = [1053, 4031, 1927];

/** Whether an error is a server's own, on a connection that goes on. */
function leavesUsable(error: unknown): boolean {
  const number = mysqlNumberOf(error);
  if (number === undefined) return false;
  const { fatal } = error as { readonly fatal?: unknown };
  return fatal !== true && ![...READ_ONLY, ...ENDED].includes(number);
}

const START = "START TRANSACTION";

/** @param start - the statement that begins it, if the next one does not do so by itself */
async function inTransaction<Value>(
  connection: Connection,
  work: (tx: Queryable) => Promise<Value>,
  start?: string,
): Promise<Value> {
  try {
    if (start !== undefined) await connection.query({ sql: start });
    const transaction = new MySqlTransaction(connection);
    const value = await transaction.run(work);
    await connection.query({ sql: "COMMIT" });
    return value;
  } catch (error) {
    // Without its response, the connection is not used again.
    if (connection.isUsable)
      await connection.query({ sql: "ROLLBACK" }).catch(() => connection.fail());
    throw error;
  }
}

/** Runs a statement outside of transactions, whatever `autocommit` is. */
function committed(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<readonly Row[]> {
  if (connection.commits) return rowsOf(connection, text, params);
  return inTransaction(connection, (tx) => tx.query(text, params));
}

/** The server's status in a response; that of a free connection that commits, if the driver does not tell it. */
function statusOf([result]: [unknown, unknown]): number {
  const { serverStatus = AUTOCOMMIT } = result as { readonly serverStatus?: number };
  return serverStatus;
}

/** A transaction that is open. Its statements run one after another. */
class MySqlTransaction implements Queryable {
  readonly #connection: MySqlRunner;
  #state: "open" | "undone" | "over" = "open";
  #cause: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: MySqlRunner) {
    this.#connection = connection;
  }

  async run<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    try {
      const value = await work({ query: (text, params) => this.query(text, params) });
      await this.#last;
      this.#requireOpen();
      return value;
    } finally {
      this.#state = "over";
    }
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    const response = this.#last.then(() => this.#send(text, params));
    this.#last = response.catch(() => undefined);
    return await response;
  }

  async #send(text: string, params: readonly unknown[]): Promise<readonly Row[]> {
    this.#requireOpen();
    try {
      return await rowsOf(this.#connection, text, params);
    } catch (error) {
      if (!(await this.#continues())) {
        this.#state = "undone";
        this.#cause = error;
      }
      throw error;
    }
  }

  /** After some errors, a deadlock for one, the server would commit each further statement by itself. */
  async #continues(): Promise<boolean> {
    try {
      const response = await this.#connection.query({ sql: NOTHING });
      return (statusOf(response) & IN_TRANSACTION) !== 0;
    } catch {
      return false;
    }
  }

  #requireOpen(): void {
    // The connection may be in another transaction by now.
    if (this.#state === "over") throw new Error("transaction has already ended");
    if (this.#state === "undone")
      throw new Error("transaction rolled back because a statement failed", {
        cause: this.#cause,
      });
  }
}

async function rowsOf(
  connection: MySqlRunner,
  text: string,
  params: readonly unknown[],
): Promise<readonly Row[]> {
  const statement = { ...READING, sql: text };
  // Prepared statements stay on the server, so one that is new each time must not become one.
  const [result] =
    params.length === 0
      ? await connection.query(statement)
      : await connection.execute({ ...statement, values: [...params] });
  return Array.isArray(result) ? (result as readonly Row[]) : [];
}
