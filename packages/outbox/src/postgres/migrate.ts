import { requireMethods } from "@holdfast/kit";
import type { Database, Queryable } from "../store/database.ts";
import {
  applyMissing,
  type MigrateOptions,
  missingIn,
  missingSql,
  prefixOf,
  type Schema,
} from "../store/migration.ts";
import { migrationsOf } from "./migrations.ts";

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
  options: MigrateOptions = {},
): Promise<readonly number[]> {
  requireMethods("database", database, ["query", "transaction"]);
  const schema = schemaOf(prefixOf(options));
  // A program that may not create tables can start once they are there.
  if ((await missingIn(database, schema)).length === 0) return [];
  return await database.transaction(async (tx) => {
    await tx.query("SELECT set_config('statement_timeout', '0', true)"); // An index of a large table takes its time.
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [LOCK]);
    return await applyMissing(tx, schema);
  });
}

/** The statements that {@link migrate} would run now, in one transaction; none if the tables are up to date. */
export async function pendingSql(on: Queryable, prefix: string): Promise<readonly string[]> {
  const missing = await missingSql(on, schemaOf(prefix));
  return missing.length === 0 ? [] : ["BEGIN", ...missing, "COMMIT"];
}

function schemaOf(prefix: string): Schema {
  return {
    prefix,
    migrations: migrationsOf(prefix),
    createTable: `CREATE TABLE IF NOT EXISTS ${prefix}migration (number integer PRIMARY KEY, name text NOT NULL)`,
    exists: `
      SELECT CASE WHEN row_security_active(found.id)
        THEN 'row level security applies to the role ' || current_user || ': migrate as the owner of the table'
        END AS restriction
      FROM to_regclass($1) AS found (id) WHERE found.id IS NOT NULL`,
  };
}
