import {
  abortable,
  type OptionNames,
  requireMethods,
  requireOptions,
} from "@holdfast/clock/internal";
import type { LeaseRecord } from "../election/lease-record.ts";
import { LockConflictError } from "../election/lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "../election/resource-lock.ts";
import { type Lender, onLentConnection } from "../sql-lock/lent-connection.ts";
import { COLUMNS, millisecondsOf, recordOf, valuesOf } from "../sql-lock/lock-row.ts";
import { DEFAULT_TABLE, requireLockName, requireTable } from "../sql-lock/lock-table.ts";

const OPTIONS: OptionNames<MySqlLockOptions> = {
  name: true,
  table: true,
};

/** Rows are objects with values of the driver's own types, also if the options of the pool differ. */
const READING = {
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast: true,
};

const DUPLICATE_ENTRY = 1062;

/** In no time zone, so that it does not go back by an hour in autumn. */
const NOW = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) / 1000 AS now";

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
 * new primary. Statements are prepared, so that no `sql_mode` changes the meaning of a text.
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
export class MySqlLock implements ResourceLock {
  readonly description: string;
  readonly #client: MySqlClient;
  readonly #name: string;
  readonly #table: string;
  #firstToken = 0;

  /**
   * @param client - a pool of `mysql2/promise`; the lock does not end it
   * @param options - see {@link MySqlLockOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(client: MySqlClient, options: MySqlLockOptions) {
    requireMethods("client", client, ["execute"]);
    requireOptions("options", options, "MySqlLock", OPTIONS);
    const { name, table = DEFAULT_TABLE } = options;
    requireLockName("options.name", name);
    requireTable("options.table", table);
    this.#client = client;
    this.#name = name;
    this.#table = table;
    this.description = `row ${name} of ${table}`;
  }

  /** Smallest token of a term without a row: milliseconds since the epoch at the last such `get`, by the server. */
  get firstToken(): number {
    return this.#firstToken;
  }

  /** Creates the table if it does not exist. Needs the right to create tables if it does not. */
  async createTable(): Promise<void> {
    const [table, schema = null] = this.#table.split(".").reverse();
    const sql = `SELECT 1 FROM information_schema.tables
      WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?`;
    const [found] = await this.#client.execute({ ...READING, sql, values: [schema, table] });
    if ((found as readonly unknown[]).length > 0) return;
    await this.#client.execute({ sql: createTableSql(this.#table) });
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    const sql = `SELECT ${COLUMNS} FROM ${this.#table} WHERE name = ?`;
    const [row] = (await this.#execute(sql, [this.#name], signal)) as readonly unknown[];
    const found = recordOf(row);
    if (found === undefined) {
      const [now] = (await this.#execute(NOW, [], signal)) as readonly unknown[];
      this.#firstToken = millisecondsOf(now);
    }
    return found;
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const version = globalThis.crypto.randomUUID();
    const sql = `INSERT INTO ${this.#table} (${COLUMNS}, name) VALUES (?, ?, ?, ?, ?, ?, ?)`;
    try {
      await this.#execute(sql, [...valuesOf(version, record), this.#name], signal);
    } catch (error) {
      if ((error as { readonly errno?: unknown } | null)?.errno !== DUPLICATE_ENTRY) throw error;
      throw new LockConflictError(this.description);
    }
    return { record, version };
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const next = globalThis.crypto.randomUUID();
    const sql = `
      UPDATE ${this.#table} SET
        version = ?, holder = ?, lease_duration = ?, acquired_at = ?, renewed_at = ?, transitions = ?
      WHERE name = ? AND version = ?`;
    const values = [...valuesOf(next, record), this.#name, version];
    // The version changes, so a row that matches is one that changes: no flag of the pool alters the count.
    const { affectedRows } = (await this.#execute(sql, values, signal)) as {
      readonly affectedRows: number;
    };
    if (affectedRows !== 1) throw new LockConflictError(this.description);
    return { record, version: next };
  }

  async #execute(sql: string, values: unknown[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const client = this.#client;
    const request = (on: MySqlClient) => on.execute({ ...READING, sql, values });
    const [result] = await (isPool(client)
      ? onLentConnection(lenderOf(client), request, signal)
      : abortable(() => request(client), signal));
    return result;
  }
}

/** A connection of a pool of `mysql2/promise`. */
interface PooledConnection extends MySqlClient {
  release(): void;
  destroy(): void;
}

interface Pool extends MySqlClient {
  getConnection(): Promise<PooledConnection>;
}

function isPool(client: MySqlClient): client is Pool {
  return "getConnection" in client && typeof client.getConnection === "function";
}

function lenderOf(pool: Pool): Lender<PooledConnection> {
  return {
    connect: () => pool.getConnection(),
    release: (connection) => connection.release(),
    close: (connection) => connection.destroy(),
  };
}
