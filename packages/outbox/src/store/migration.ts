import { flag, type Kinds, whole } from "@holdfast/kit";
import { type Queryable, tablePrefix } from "./database.ts";

export const MIGRATE_OPTIONS: Kinds<MigrateOptions> = { prefix: tablePrefix };

/** Options for `migrate`. */
export interface MigrateOptions {
  /**
   * The first part of the names of the tables: 1 to 30 lower case letters, digits and underscores, not a digit first.
   *
   * @defaultValue `"outbox_"`
   */
  readonly prefix?: string | undefined;
}

export const MIGRATION_SQL_OPTIONS: Kinds<MigrationSqlOptions> = {
  ...MIGRATE_OPTIONS,
  from: whole(1),
  lock: flag,
};

/** Options for `migrationSql`. */
export interface MigrationSqlOptions extends MigrateOptions {
  /**
   * The number of the first migration, for a database that has those before it.
   *
   * @defaultValue `1`
   */
  readonly from?: number | undefined;

  /**
   * Whether the table of the default lock is among them. Without it, give the outbox a `lock`.
   *
   * @defaultValue `true`
   */
  readonly lock?: boolean | undefined;
}

/** One step of the schema. Once released it is never changed: another one follows. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** One statement each. Where each commits by itself, each must be able to run twice. */
  readonly statements: readonly string[];
}

/** The tables of an outbox in one kind of database. */
export interface Schema {
  /** With what qualifies it before it, if anything does. */
  readonly prefix: string;
  /** Run before all others. */
  readonly before: readonly string[];
  /** Creates the table of the applied migrations if it does not exist. */
  readonly createTable: string;
  /** All of them, in the order in which they are applied. */
  readonly migrations: readonly Migration[];
  /** Reads a row if a table of the name exists. A text `restriction` says why its rows are hidden. */
  readonly exists: string;
}

/** The migrations that are not applied yet. */
export async function missingIn(on: Queryable, schema: Schema): Promise<readonly Migration[]> {
  const { prefix, migrations, exists } = schema;
  const found = await on.query(exists, [`${prefix}migration`]);
  const restriction = found[0]?.["restriction"];
  if (typeof restriction === "string")
    throw new Error(`the rows of ${prefix}migration cannot be read: ${restriction}`);
  const rows = found.length > 0 ? await on.query(`SELECT number FROM ${prefix}migration`) : [];
  // Some settings of a driver make texts or BigInts of numbers.
  const applied = new Set(rows.map(({ number }) => Number(number)));
  return migrations.filter(({ number }) => !applied.has(number));
}

/** Applies the missing migrations, and returns their numbers. */
export async function applyMissing(on: Queryable, schema: Schema): Promise<readonly number[]> {
  for (const statement of [...schema.before, schema.createTable]) await on.query(statement);
  const missing = await missingIn(on, schema);
  for (const statement of statementsOf(missing, schema)) await on.query(statement);
  return missing.map(({ number }) => number);
}

/** The statements that {@link applyMissing} would run now; none if the tables are up to date. */
export async function missingSql(on: Queryable, schema: Schema): Promise<readonly string[]> {
  const missing = await missingIn(on, schema);
  const { before, createTable } = schema;
  return missing.length === 0 ? [] : [...before, createTable, ...statementsOf(missing, schema)];
}

/** The statements of all migrations from a number on, with those before and after them, as text. */
export function sqlFrom(
  { from = 1 }: MigrationSqlOptions,
  schema: Schema,
  after: readonly string[],
): string {
  const { before, createTable, migrations } = schema;
  const last = migrations.at(-1)?.number ?? 0;
  if (from > last)
    throw new RangeError(`options.from must be at most ${last}, the last migration, got ${from}`);
  const chosen = migrations.filter(({ number }) => number >= from);
  const all = [...before, createTable, ...statementsOf(chosen, schema), ...after];
  return all.map((statement) => `${statement};\n`).join("");
}

/** Numbers and names are ours, so they are part of the text. */
function statementsOf(migrations: readonly Migration[], { prefix }: Schema): readonly string[] {
  return migrations.flatMap(({ number, name, statements }) => [
    ...statements,
    `INSERT INTO ${prefix}migration (number, name) VALUES (${number}, '${name}')`,
  ]);
}
