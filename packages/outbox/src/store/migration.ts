import { type Kinds, read } from "@holdfast/kit";
import { type Queryable, tablePrefix } from "./database.ts";

export const MIGRATE_OPTIONS: Kinds<MigrateOptions> = { prefix: tablePrefix };

/** Options for `migrate`. */
export interface MigrateOptions {
  /**
   * The first part of the names of the tables: 1 to 30 lower case letters and underscores.
   *
   * @defaultValue `"outbox_"`
   */
  readonly prefix?: string | undefined;
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
  readonly prefix: string;
  /** Creates the table of the applied migrations if it does not exist. */
  readonly createTable: string;
  /** All of them, in the order in which they are applied. */
  readonly migrations: readonly Migration[];
  /** Reads a row if a table of the name exists. A text `restriction` says why its rows are hidden. */
  readonly exists: string;
}

/** @throws RangeError or TypeError that names the option */
export function prefixOf(options: MigrateOptions): string {
  const { prefix = "outbox_" } = read("options", options, "migrate", MIGRATE_OPTIONS);
  return prefix;
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
  await on.query(schema.createTable);
  const missing = await missingIn(on, schema);
  for (const statement of statementsOf(missing, schema)) await on.query(statement);
  return missing.map(({ number }) => number);
}

/** The statements that {@link applyMissing} would run now; none if the tables are up to date. */
export async function missingSql(on: Queryable, schema: Schema): Promise<readonly string[]> {
  const missing = await missingIn(on, schema);
  return missing.length === 0 ? [] : [schema.createTable, ...statementsOf(missing, schema)];
}

/** Numbers and names are ours, so they are part of the text. */
function statementsOf(migrations: readonly Migration[], { prefix }: Schema): readonly string[] {
  return migrations.flatMap(({ number, name, statements }) => [
    ...statements,
    `INSERT INTO ${prefix}migration (number, name) VALUES (${number}, '${name}')`,
  ]);
}
