import { abortable } from "@holdfast/clock";
import {
  AUTOCOMMIT,
  DUPLICATE_ENTRY,
  endRequest,
  mysqlNumberOf,
  NEXT_READS_COMMITTED,
  READING,
  read,
  requireMethods,
  TRANSACTION_IS_OPEN,
} from "@holdfast/kit";
import { type Random, withTimeout } from "@holdfast/wait";
import {
  keepFromCrashing,
  type Lender,
  onLentConnection,
  type PoolEvents,
} from "../sql-lock/lent-connection.ts";
import {
  DEFAULT_TABLE,
  type Dialect,
  requireTable,
  SQL_LOCK_OPTIONS,
  SqlLock,
} from "../sql-lock/sql-lock.ts";

/** The part of a pool of `mysql2/promise` that {@link MySqlLock} uses. */
export interface MySqlClient {
  /** Prepares a statement with values for each `?`, and runs it. */
  execute(statement: { sql: string; values?: unknown[] }): Promise<[unknown, unknown]>;
}

/** Options for {@link MySqlLock}. */
export interface MySqlLockOptions {
  /** Name of the row. Electors of the same name compete. Not empty, at most 255 bytes of UTF-8. */
  readonly name: string;

  /**
   * Table of the row, one for all locks of the database. Lower case letters, digits and underscores, after a database
   * and a dot if any.
   *
   * @defaultValue `"holdfast_lock"`
   */
  readonly table?: string | undefined;

  /**
   * Source of the ids of versions. Give it in a test, each process its own: two processes with the same ids take each
   * other's writes for their own.
   *
   * @defaultValue ids of the platform's cryptographic source
   */
  readonly random?: Random | undefined;
}

/**
 * SQL of the table of a {@link MySqlLock}, for a migration of your own. It changes nothing if the table exists.
 *
 * @param table - see {@link MySqlLockOptions.table}
 * @throws RangeError or TypeError for a name that is not one of a table
 *
 * @example
 * ```ts
 * import { createTableSql } from "@holdfast/controller/mysql-lock";
 *
 * console.log(createTableSql());
 * // => CREATE TABLE IF NOT EXISTS holdfast_lock (
 * // =>   name VARBINARY(255) NOT NULL PRIMARY KEY,
 * // =>   version CHAR(36) NOT NULL,
 * // =>   holder MEDIUMTEXT NOT NULL,
 * // =>   lease_duration DOUBLE NOT NULL,
 * // =>   acquired_at DOUBLE NOT NULL,
 * // =>   renewed_at DOUBLE NOT NULL,
 * // =>   transitions DOUBLE NOT NULL
 * // => ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin
 * ```
 */
export function createTableSql(table: string = DEFAULT_TABLE): string {
  requireTable("table", table);
  // The name is bytes: a comparison of texts ignores trailing spaces.
  return `CREATE TABLE IF NOT EXISTS ${table} (
  name VARBINARY(255) NOT NULL PRIMARY KEY,
  version CHAR(36) NOT NULL,
  holder MEDIUMTEXT NOT NULL,
  lease_duration DOUBLE NOT NULL,
  acquired_at DOUBLE NOT NULL,
  renewed_at DOUBLE NOT NULL,
  transitions DOUBLE NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`;
}

/**
 * A lock that is a row of a MySQL 8 or MariaDB database. It is no `GET_LOCK`, which ends with its connection.
 *
 * A record survives a restart of the server, with the default of `innodb_flush_log_at_trx_commit`. While the server is
 * away, requests reject and the leader steps down after `renewDeadline`. A replica that takes over must have the latest
 * commits, or it may grant a lease that is still held.
 *
 * A connection of the pool whose request failed or was aborted is closed: after a failover the next one may lead to the
 * new primary. The request is ended on the server, too (`KILL QUERY`), where it could wait for a lock. A connection that
 * other code has given back inside a transaction is closed as well; the request rejects. Statements are prepared, so that no
 * `sql_mode` changes the meaning of a text, and each is committed, also if `autocommit` is off.
 *
 * @example
 * ```ts no-run
 * import { randomUUID } from "node:crypto";
 * import { hostname } from "node:os";
 * import { LeaderElector } from "@holdfast/controller";
 * import { MySqlLock } from "@holdfast/controller/mysql-lock";
 * import { createPool } from "mysql2/promise";
 *
 * const lock = new MySqlLock(createPool("mysql://shop@127.0.0.1/shop"), { name: "my-program" });
 * await lock.createTable();
 * const elector = new LeaderElector({
 *   lock,
 *   identity: `${hostname()}-${randomUUID().slice(0, 8)}`,
 *   lead: async ({ token }) => console.log("leads with token", token),
 * });
 * await elector.run(new AbortController().signal);
 * ```
 */
export class MySqlLock extends SqlLock {
  /**
   * @param client - a pool of `mysql2/promise`; the lock does not end it
   * @param options - see {@link MySqlLockOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(client: MySqlClient, options: MySqlLockOptions) {
    requireMethods("client", client, ["execute"]);
    const given = read("options", options, "MySqlLock", SQL_LOCK_OPTIONS);
    super(dialectOf(client), given);
  }
}

function dialectOf(client: MySqlClient): Dialect {
  if (isPool(client)) keepFromCrashing(client);
  const execute = (sql: string, values: unknown[], signal: AbortSignal): Promise<unknown> => {
    const statement = { ...READING, sql, values };
    return isPool(client)
      ? onLentConnection(lenderOf(client), (on) => committed(on, statement, commit), signal)
      : abortable(() => committed(client, statement, refuse), signal);
  };
  return {
    client,
    parameter: () => "?",
    // In no time zone, so that it does not go back by an hour in autumn.
    now: "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) / 1000 AS now",
    read: async (...request) => (await execute(...request)) as readonly unknown[],
    async insert(...request) {
      try {
        await execute(...request);
        return true;
      } catch (error) {
        if (mysqlNumberOf(error) !== DUPLICATE_ENTRY) throw error;
        return false;
      }
    },
    async update(...request) {
      // The version changes, so a row that matches is one that changes: no flag of the pool alters the count.
      const result = (await execute(...request)) as { readonly affectedRows: number };
      return result.affectedRows === 1;
    },
    async createTable(qualified, signal) {
      const [table, schema = null] = qualified.split(".").reverse();
      const sql = `SELECT 1 FROM information_schema.tables
        WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?`;
      const found = await execute(sql, [schema, table], signal);
      if ((found as readonly unknown[]).length > 0) return;
      await execute(createTableSql(qualified), [], signal);
    },
  };
}

/**
 * Runs a statement outside of transactions.
 *
 * @param uncommitted - called first if the server does not commit the statement by itself, as with `autocommit = 0`;
 * gives what commits it
 */
async function committed(
  connection: MySqlClient,
  statement: { sql: string; values: unknown[] },
  uncommitted: (connection: MySqlClient) => () => Promise<unknown>,
): Promise<unknown> {
  const response = await connection.execute({ sql: NEXT_READS_COMMITTED }).catch(refuseTransaction);
  const end = commits(response) ? undefined : uncommitted(connection);
  const [result] = await connection.execute(statement);
  await end?.();
  return result;
}

const commit = (connection: MySqlClient) => () => connection.execute({ sql: "COMMIT" });

/** Without a pool, two requests may go to two connections. */
function refuse(): never {
  throw new Error(
    "MySqlLock: autocommit is off, so that no lease would be committed; pass a pool of mysql2/promise, or set autocommit = 1",
  );
}

function refuseTransaction(error: unknown): never {
  if (mysqlNumberOf(error) !== TRANSACTION_IS_OPEN) throw error;
  throw new Error(
    "MySqlLock: the connection is inside a transaction; commit or roll back before you release a connection to the pool",
    { cause: error },
  );
}

/** Whether each statement commits, by the server's status. */
function commits([result]: [unknown, unknown]): boolean {
  const { serverStatus = AUTOCOMMIT } = (result ?? {}) as { readonly serverStatus?: number };
  return (serverStatus & AUTOCOMMIT) !== 0;
}

/** A connection of a pool of `mysql2/promise`. */
interface PooledConnection extends MySqlClient {
  release(): void;
  destroy(): void;
}

interface Pool extends MySqlClient, PoolEvents {
  getConnection(): Promise<PooledConnection>;
}

function isPool(client: MySqlClient): client is Pool {
  return "getConnection" in client && typeof client.getConnection === "function";
}

function lenderOf(pool: Pool): Lender<PooledConnection> {
  return {
    connect: () => pool.getConnection(),
    release: (connection) => connection.release(),
    close(connection, error) {
      // What was given up goes on at the server, unless that has answered.
      const isAnswered = mysqlNumberOf(error) !== undefined;
      const ended = isAnswered ? undefined : endRequest(connection, withTimeout);
      if (ended === undefined) connection.destroy();
      else void ended.then(() => connection.destroy());
    },
  };
}
