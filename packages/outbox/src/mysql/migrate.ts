import { createTableSql } from "@holdfast/controller/mysql-lock";
import { read, requireMethods } from "@holdfast/kit";
import type { Queryable } from "../store/database.ts";
import {
  applyMissing,
  MIGRATE_OPTIONS,
  MIGRATION_SQL_OPTIONS,
  type MigrateOptions,
  type MigrationSqlOptions,
  missingIn,
  missingSql,
  type Schema,
  sqlFrom,
} from "../store/migration.ts";
import { migrationsOf } from "./migrations.ts";
import { hasNumber } from "./read-committed.ts";

/** Maximum time that one process waits for the migrations of another, in seconds. */
const LOCK_TIMEOUT = 600;

/** The column, or the index, is there already. */
const DUPLICATES = [1060, 1061];

/** The name of a lock is at most 64 characters long, and the server has one set of names. */
const LOCK = "CONCAT('holdfast-', LEFT(SHA2(CONCAT_WS('/', DATABASE(), ?), 256), 40))";

/** A database whose connections can be used one at a time. */
export interface SessionDatabase {
  /**
   * Runs a function on one connection, outside transactions.
   *
   * @returns the value of `work`. If the promise rejects, the connection was closed
   */
  session<Value>(work: (session: Queryable) => Promise<Value>): Promise<Value>;
}

/**
 * Brings the tables of an outbox up to date. Processes that start together wait for one another, at most
 * 10 minutes. Each migration is applied once; if one fails halfway, the next call completes it.
 *
 * @param database - the database, with the right to create tables if one is missing
 * @returns the numbers of the migrations it applied
 *
 * @example
 * ```ts no-run
 * import { MySqlDatabase, migrate } from "@holdfast/outbox/mysql";
 * import { retry } from "@holdfast/wait";
 * import { createPool } from "mysql2/promise";
 *
 * const database = new MySqlDatabase(createPool("mysql://shop@127.0.0.1/shop"));
 * await retry(() => migrate(database)); // the server may not be up yet
 * ```
 */
export async function migrate(
  database: SessionDatabase,
  options: MigrateOptions = {},
): Promise<readonly number[]> {
  requireMethods("database", database, ["session"]);
  const { prefix = "outbox_" } = read("options", options, "migrate", MIGRATE_OPTIONS);
  const schema = schemaOf(prefix);
  return await database.session(async (session) => {
    // A program that may not create tables can start once they are there.
    if ((await missingIn(session, schema)).length === 0) return [];
    // A statement that changes the schema commits, so a transaction would not keep others away.
    const [row] = await session.query(`SELECT GET_LOCK(${LOCK}, ${LOCK_TIMEOUT}) AS locked`, [
      prefix,
    ]);
    if (Number(row?.["locked"]) !== 1)
      throw new Error(
        `migrate: another process has been migrating ${prefix}* for ${LOCK_TIMEOUT} s; try again`,
      );
    const applied = await applyMissing(repeatable(session), schema);
    await session.query(`SELECT RELEASE_LOCK(${LOCK})`, [prefix]);
    return applied;
  });
}

/** A process may have died between the change of a table and the row that says so. */
function repeatable(session: Queryable): Queryable {
  return {
    async query(text, params) {
      try {
        return await session.query(text, params);
      } catch (error) {
        if (DUPLICATES.some((number) => hasNumber(error, number))) return [];
        throw error;
      }
    },
  };
}

/** The statements that {@link migrate} would run now, one after another; none if the tables are up to date. */
export function pendingSql(on: Queryable, prefix: string): Promise<readonly string[]> {
  return missingSql(on, schemaOf(prefix));
}

/**
 * The SQL of all tables of an outbox, for a tool of your own: Flyway, Prisma, Drizzle, `mysql`. It needs no database.
 * Afterwards {@link migrate} finds nothing to do. The tables are in the database that the tool uses.
 *
 * A later version of this package may have further migrations: print those alone with `from`.
 *
 * @param options - see `MigrationSqlOptions`
 * @returns statements, each with a semicolon and a line end after it
 * @throws RangeError or TypeError that names the option
 *
 * @example
 * ```ts
 * import { migrationSql } from "@holdfast/outbox/mysql";
 *
 * const sql = migrationSql({ from: 2, lock: false });
 * console.log(sql.includes("CREATE TABLE IF NOT EXISTS outbox_message (")); // => false
 * ```
 */
export function migrationSql(options: MigrationSqlOptions = {}): string {
  const given = read("options", options, "migrationSql", MIGRATION_SQL_OPTIONS);
  const { prefix = "outbox_", lock = true } = given;
  return sqlFrom(given, schemaOf(prefix), lock ? [createTableSql()] : []);
}

function schemaOf(prefix: string): Schema {
  return {
    prefix,
    before: [],
    migrations: migrationsOf(prefix),
    createTable: `CREATE TABLE IF NOT EXISTS ${prefix}migration (number INT PRIMARY KEY, name VARCHAR(255) NOT NULL)
      ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
    exists:
      "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
  };
}
