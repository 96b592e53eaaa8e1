import { type OptionNames, requireMethods, requireOptions } from "@holdfast/clock/internal";
import { type Database, type Queryable, requirePrefix } from "../store/database.ts";
import { type Migration, migrationsOf } from "./migrations.ts";

const OPTIONS: OptionNames<MigrateOptions> = {
  prefix: true,
};

/** Any number that no other program locks in the same database. */
const LOCK = 7_305_120_553;

/** Options for {@link migrate}. */
export interface MigrateOptions {
  /**
   * The first part of the names of the tables: 1 to 30 lower case letters and underscores.
   *
   * @defaultValue `"outbox_"`
   */
  readonly prefix?: string | undefined;
}

/**
 * Brings the tables of an outbox up to date. Processes that start together wait for one another; each
 * migration is applied once, and all that are missing in one transaction.
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
 * const database = new PgDatabase(new pg.Pool());
 * await retry(() => migrate(database)); // the server may not be up yet
 * ```
 */
export async function migrate(
  database: Database,
  options: MigrateOptions = {},
): Promise<readonly number[]> {
  requireMethods("database", database, ["query", "transaction"]);
  requireOptions("options", options, "migrate", OPTIONS);
  const { prefix = "outbox_" } = options;
  requirePrefix("options.prefix", prefix);
  // A program that may not create tables can start once they are there.
  if (missingOf(await appliedNumbers(database, prefix), prefix).length === 0) return [];
  return await database.transaction(async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [LOCK]);
    await tx.query(createTable(prefix));
    const applied = await appliedNumbers(tx, prefix);
    const missing = missingOf(applied, prefix);
    for (const statement of statementsOf(missing, prefix)) await tx.query(statement);
    return missing.map(({ number }) => number);
  });
}

/** The statements that {@link migrate} would run now, in one transaction; none if the tables are up to date. */
export async function pendingSql(on: Queryable, prefix: string): Promise<readonly string[]> {
  const missing = missingOf(await appliedNumbers(on, prefix), prefix);
  if (missing.length === 0) return [];
  return ["BEGIN", createTable(prefix), ...statementsOf(missing, prefix), "COMMIT"];
}

async function appliedNumbers(on: Queryable, prefix: string): Promise<ReadonlySet<number>> {
  const [found] = await on.query("SELECT to_regclass($1)::text AS name", [`${prefix}migration`]);
  if (found?.["name"] === null) return new Set();
  const rows = await on.query(`SELECT number FROM ${prefix}migration`);
  // Some settings of a driver make texts or BigInts of numbers.
  return new Set(rows.map(({ number }) => Number(number)));
}

function missingOf(applied: ReadonlySet<number>, prefix: string): readonly Migration[] {
  return migrationsOf(prefix).filter(({ number }) => !applied.has(number));
}

function createTable(prefix: string): string {
  return `CREATE TABLE IF NOT EXISTS ${prefix}migration (number integer PRIMARY KEY, name text NOT NULL)`;
}

/** Numbers and names are ours, so they are part of the text. */
function statementsOf(migrations: readonly Migration[], prefix: string): readonly string[] {
  return migrations.flatMap(({ number, name, statements }) => [
    ...statements,
    `INSERT INTO ${prefix}migration (number, name) VALUES (${number}, '${name}')`,
  ]);
}
