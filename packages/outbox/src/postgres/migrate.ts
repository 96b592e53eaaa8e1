import { createTableSql } from "@holdfast/controller/postgres-lock";
import { type Kinds, read, requireMethods } from "@holdfast/kit";
import type { Database, Queryable } from "../store/database.ts";
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
import { type InSchema, qualified, schemaName } from "./in-schema.ts";
import { migrationsOf } from "./migrations.ts";

/** Options for `migrate` of PostgreSQL. */
export interface PostgresMigrateOptions extends MigrateOptions, InSchema {}

/** Options for `migrationSql` of PostgreSQL. */
export interface PostgresMigrationSqlOptions extends MigrationSqlOptions, InSchema {}

export const POSTGRES_MIGRATE_OPTIONS: Kinds<PostgresMigrateOptions> = {
  ...MIGRATE_OPTIONS,
  schema: schemaName,
};

export const POSTGRES_MIGRATION_SQL_OPTIONS: Kinds<PostgresMigrationSqlOptions> = {
  ...MIGRATION_SQL_OPTIONS,
  schema: schemaName,
};

/** Any number that no other program locks in the same database. */
const LOCK = 7_305_120_553;

/**
 * Brings the tables of an outbox up to date. Processes that start together wait for one another; each
 * migration is applied once, and all that are missing in one transaction. A `statement_timeout` of the server does not
 * limit it; a `query_timeout` of the pool does.
 *
 * @param database - the database, with the right to create tables if one is missing
 * @returns the numbers of the migrations it applied
 *
 * @example
 * ```ts no-run
 * import { migrate, PgDatabase } from "@holdfast/outbox/postgres";
 * import { retry } from "@holdfast/wait";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * const database = new PgDatabase(pool);
 * await retry(() => migrate(database)); // the server may not be up yet
 * ```
 */
export async function migrate(
  database: Database,
  options: PostgresMigrateOptions = {},
): Promise<readonly number[]> {
  requireMethods("database", database, ["query", "transaction"]);
  const schema = schemaOf(read("options", options, "migrate", POSTGRES_MIGRATE_OPTIONS));
  // A program that may not create tables can start once they are there.
  if ((await missingIn(database, schema)).length === 0) return [];
  return await database.transaction(async (tx) => {
    await tx.query("SELECT set_config('statement_timeout', '0', true)"); // An index of a large table takes its time.
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [LOCK]);
    return await applyMissing(tx, schema);
  });
}

/** The statements that {@link migrate} would run now, in one transaction; none if the tables are up to date. */
export async function pendingSql(
  on: Queryable,
  options: PostgresMigrateOptions,
): Promise<readonly string[]> {
  const missing = await missingSql(on, schemaOf(options));
  return missing.length === 0 ? [] : ["BEGIN", ...missing, "COMMIT"];
}

/**
 * The SQL of all tables of an outbox, for a tool of your own: Flyway, Prisma, Drizzle, `psql`. It needs no database.
 * Afterwards {@link migrate} finds nothing to do. Run it in one transaction, as such tools do.
 *
 * A later version of this package may have further migrations: print those alone with `from`.
 *
 * @param options - see {@link PostgresMigrationSqlOptions}
 * @returns statements, each with a semicolon and a line end after it
 * @throws RangeError or TypeError that names the option
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { migrationSql } from "@holdfast/outbox/postgres";
 *
 * const sql = migrationSql({ schema: "shop" });
 * await writeFile(`${tmpdir()}/V7__outbox.sql`, sql);
 * console.log(sql.includes('CREATE TABLE IF NOT EXISTS "shop".outbox_migration')); // => true
 * ```
 */
export function migrationSql(options: PostgresMigrationSqlOptions = {}): string {
  const given = read("options", options, "migrationSql", POSTGRES_MIGRATION_SQL_OPTIONS);
  const lock = given.lock === false ? [] : [createTableSql(lockTable(given))];
  const schema = schemaOf(given, "session");
  const [keep, restore] = given.schema === undefined ? [[], []] : [[KEEP_PATH], [RESTORE_PATH]];
  const before = [...keep, ...schema.before];
  return sqlFrom(given, { ...schema, before }, [...lock, ...restore]);
}

/** A tool may run the next file in the same session. */
const KEEP_PATH =
  "SELECT set_config('holdfast.search_path', current_setting('search_path'), false)";
const RESTORE_PATH =
  "SELECT set_config('search_path', current_setting('holdfast.search_path'), false)";

/**
 * Makes a schema the one of unqualified names, which migrations have. A user who may not create schemas can go on where it
 * is there.
 *
 * @param until - the end of the transaction, or of the session for a tool that commits each statement
 */
function enter(schema: string, until: "commit" | "session"): readonly string[] {
  const create = `DO $$ BEGIN
  IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
END $$`;
  const isLocal = until === "commit";
  return [create, `SELECT set_config('search_path', '"${schema}"', ${isLocal})`];
}

/** The table of the default lock: beside the tables. */
export function lockTable(options: InSchema): string {
  return qualified(options, "holdfast_lock");
}

function schemaOf(
  { prefix = "outbox_", schema }: PostgresMigrateOptions,
  until: "commit" | "session" = "commit",
): Schema {
  const at = qualified({ schema }, prefix);
  return {
    prefix: at,
    before: schema === undefined ? [] : enter(schema, until),
    migrations: migrationsOf(prefix),
    createTable: `CREATE TABLE IF NOT EXISTS ${at}migration (number integer PRIMARY KEY, name text NOT NULL)`,
    exists: `
      SELECT CASE WHEN row_security_active(found.id)
        THEN 'row level security applies to the role ' || current_user || ': migrate as the owner of the table'
        END AS restriction
      FROM to_regclass($1) AS found (id) WHERE found.id IS NOT NULL`,
  };
}
