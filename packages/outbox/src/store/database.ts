import { type Kind, kind, onTable, requireString } from "@holdfast/kit";

/** A row that a query returns: each column under its name. */
export type Row = Readonly<Record<string, unknown>>;

/** Anything that runs SQL: a database, or a transaction in it. */
export interface Queryable {
  /**
   * Runs one statement.
   *
   * @param text - SQL, with `$1`, `$2`, … on PostgreSQL and `?` on MySQL where values go
   * @param params - these values
   * @param signal - ends the request: it rejects with `signal.reason`, and its connection is closed
   * @returns the rows, those of `RETURNING` too
   */
  query(text: string, params?: readonly unknown[], signal?: AbortSignal): Promise<readonly Row[]>;
}

/** A database: a server, or one inside the process. */
export interface Database extends Queryable, AsyncDisposable {
  /**
   * Runs a function in a transaction.
   *
   * @param signal - ends the transaction: it rejects with `signal.reason`, and its connection is closed
   * @returns the value of `work`, after the commit. If the promise rejects, the transaction was rolled
   * back, with one exception: when the connection breaks during the commit, the outcome is unknown
   */
  transaction<Value>(work: (tx: Queryable) => Promise<Value>, signal?: AbortSignal): Promise<Value>;
}

/** What creates the tables of an outbox. */
const REMEDY =
  "create the tables of the outbox by migrate(), by migrationSql() in a migration of your own, or by npx @holdfast/outbox migrate";

/** Runs statements on tables of a prefix. If one is missing, the error says what creates it. */
export function onTables(on: Queryable, prefix: string): Queryable {
  return {
    query: (...statement) => onTable(prefix, REMEDY, () => on.query(...statement)),
  };
}

/** SQL for the `sql` tag of a query layer: `sql(parts, ...params)`. */
export interface Statement {
  /** The text between the values. One more than there are values. */
  readonly parts: TemplateStringsArray;

  /** The values, in order, each used once. */
  readonly params: readonly (string | number)[];
}

/** Takes a text apart at its placeholders. */
export function statementOf(
  text: string,
  placeholder: RegExp,
  params: Statement["params"],
): Statement {
  const parts = text.split(placeholder);
  return { parts: Object.assign(parts, { raw: parts }), params };
}

/** The prefix of table names: a part of SQL, so it is checked and never quoted. */
export const tablePrefix: Kind = kind("tablePrefix", requirePrefix);

export function requirePrefix(name: string, prefix: string): void {
  requireString(name, prefix);
  if (!/^[a-z_][a-z\d_]{0,29}$/.test(prefix))
    throw new RangeError(
      `${name} must be 1 to 30 lower case letters, digits and underscores, not a digit first, got ${JSON.stringify(prefix.slice(0, 60))}`,
    );
}
