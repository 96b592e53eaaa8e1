import { abortable } from "@holdfast/clock";
import {
  cancelRequest,
  isOfServer,
  type Kinds,
  kind,
  leftTransaction,
  read,
  requireMethods,
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

/** Any number that no other program locks in the same database. */
const ADVISORY_LOCK = 7_305_120_554;

/** The part of a `pg.Pool` or a PGlite that {@link PostgresLock} uses. */
export interface PostgresClient {
  /** Runs a statement with values for `$1`, `$2` and so on. */
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** The part of a result of `pg` or PGlite that {@link PostgresLock} uses. */
export interface PostgresResult {
  /** Rows, each an object with the columns. */
  readonly rows: readonly unknown[];
}

/** Options for {@link PostgresLock}. */
export interface PostgresLockOptions {
  /** Name of the row. Electors of the same name compete. Not empty, at most 255 bytes of UTF-8. */
  readonly name: string;

  /**
   * Table of the row, one for all locks of the database. Lower case letters, digits and underscores, after a schema
   * and a dot if any. A schema in double quotes may have capital letters and hyphens too: `"Shop-1".holdfast_lock`.
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

export const POSTGRES_LOCK_OPTIONS: Kinds<PostgresLockOptions> = {
  ...SQL_LOCK_OPTIONS,
  table: kind("tableName", requirePostgresTable),
};

/** A table whose schema may be quoted. */
function requirePostgresTable(name: string, table: string): void {
  if (typeof table === "string" && /^"[\w-]{1,63}"\.[a-z_][a-z\d_]{0,62}$/.test(table)) return;
  requireTable(name, table);
}

/**
 * SQL of the table of a {@link PostgresLock}, for a migration of your own. It changes nothing if the table exists.
 *
 * @param table - see {@link PostgresLockOptions.table}
 * @throws RangeError or TypeError for a name that is not one of a table
 *
 * @example
 * ```ts
 * import { createTableSql } from "@holdfast/controller/postgres-lock";
 *
 * console.log(createTableSql());
 * // => CREATE TABLE IF NOT EXISTS holdfast_lock (
 * // =>   name text PRIMARY KEY,
 * // =>   version text NOT NULL,
 * // =>   holder text NOT NULL,
 * // =>   lease_duration double precision NOT NULL,
 * // =>   acquired_at double precision NOT NULL,
 * // =>   renewed_at double precision NOT NULL,
 * // =>   transitions double precision NOT NULL
 * // => )
 * ```
 */
export function createTableSql(table: string = DEFAULT_TABLE): string {
  requirePostgresTable("table", table);
  return `CREATE TABLE IF NOT EXISTS ${table} (
  name text PRIMARY KEY,
  version text NOT NULL,
  holder text NOT NULL,
  lease_duration double precision NOT NULL,
  acquired_at double precision NOT NULL,
  renewed_at double precision NOT NULL,
  transitions double precision NOT NULL
)`;
}

/**
 * A lock that is a row of a PostgreSQL database, on a server or in a PGlite. It is no advisory lock, which ends with its
 * connection.
 *
 * A record survives a restart of the server. While the server is away, requests reject and the leader steps down after
 * `renewDeadline`. A replica that takes over must have the latest commits (`synchronous_commit`), or it may grant a
 * lease that is still held.
 *
 * A connection of the pool whose request failed or was aborted is closed: after a failover the next one may lead to the
 * new primary. The request is ended on the server, too, where it could wait for a lock or for a standby. Set
 * `connectionTimeoutMillis` and `statement_timeout` to less than `renewDeadline`; behind PgBouncer, which refuses the second,
 * set it by `ALTER ROLE … SET`. Listen for the pool's `error` event: without a listener, a broken idle connection ends the
 * process. A connection that other code has given back inside a transaction is closed; the request rejects.
 *
 * @example
 * ```ts no-run
 * import { randomUUID } from "node:crypto";
 * import { hostname } from "node:os";
 * import { LeaderElector } from "@holdfast/controller";
 * import { PostgresLock } from "@holdfast/controller/postgres-lock";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * pool.on("error", console.warn);
 * const lock = new PostgresLock(pool, { name: "my-program" });
 * await lock.createTable();
 * const elector = new LeaderElector({
 *   lock,
 *   identity: `${hostname()}-${randomUUID().slice(0, 8)}`,
 *   lead: async ({ token }) => console.log("leads with token", token),
 * });
 * await elector.run(new AbortController().signal);
 * ```
 */
export class PostgresLock extends SqlLock {
  /**
   * @param client - a `pg.Pool` or a PGlite; the lock does not end it
   * @param options - see {@link PostgresLockOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(client: PostgresClient, options: PostgresLockOptions) {
    requireMethods("client", client, ["query"]);
    const given = read("options", options, "PostgresLock", POSTGRES_LOCK_OPTIONS);
    super(dialectOf(client), given);
  }
}

function dialectOf(client: PostgresClient): Dialect {
  if (isPool(client)) keepFromCrashing(client);
  const read: Dialect["read"] = async (sql, values, signal) => {
    const request = (on: PostgresClient) => {
      const problem = leftTransaction(on);
      return problem === undefined ? on.query(sql, values) : Promise.reject(problem);
    };
    const { rows } = await (isPool(client)
      ? onLentConnection(lenderOf(client), request, signal)
      : abortable(() => request(client), signal));
    return rows;
  };
  const write: Dialect["update"] = async (sql, values, signal) =>
    (await read(`${sql} RETURNING version`, values, signal)).length > 0;
  return {
    client,
    parameter: (place) => `$${place}`,
    now: "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now",
    read,
    insert: (sql, values, signal) => write(`${sql} ON CONFLICT (name) DO NOTHING`, values, signal),
    update: write,
    async restriction(table, signal) {
      const sql = "SELECT current_user::text AS role WHERE row_security_active(to_regclass($1))";
      const [row] = (await read(sql, [table], signal)) as readonly { readonly role: string }[];
      if (row === undefined) return undefined;
      return `row level security hides it from the role ${row.role}: give the role BYPASSRLS, or a policy FOR ALL USING (true)`;
    },
    async createTable(table, signal) {
      const rows = await read("SELECT to_regclass($1)::text AS found", [table], signal);
      if ((rows[0] as { readonly found: unknown }).found !== null) return;
      // One statement, because PGlite prepares it. Two that create a table at once could fail.
      const create = `DO $$ BEGIN
        PERFORM pg_advisory_xact_lock(${ADVISORY_LOCK});
        ${createTableSql(table)};
      END $$`;
      await read(create, [], signal);
    },
  };
}

/** A connection of a `pg.Pool`. */
interface PooledClient extends PostgresClient {
  release(destroy?: boolean): void;
}

interface Pool extends PostgresClient, PoolEvents {
  connect(): Promise<PooledClient>;
  readonly options?: object;
}

/** A single `pg.Client` has a method `connect` too. */
function isPool(client: PostgresClient): client is Pool {
  const { connect, totalCount } = client as { connect?: unknown; totalCount?: unknown };
  return typeof connect === "function" && typeof totalCount === "number";
}

function lenderOf(pool: Pool): Lender<PooledClient> {
  return {
    connect: () => pool.connect(),
    release: (client) => client.release(),
    close(client, error) {
      // What was given up goes on at the server, unless that has answered.
      const cancelled = isOfServer(error)
        ? undefined
        : cancelRequest(client, pool.options, withTimeout);
      if (cancelled === undefined) client.release(true);
      else void cancelled.then(() => client.release(true));
    },
  };
}
