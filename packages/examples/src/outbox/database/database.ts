/** What a query answers: each column of a row under its name. */
export type Row = Readonly<Record<string, unknown>>;

/** Something that takes SQL: a database, or a transaction in it. */
export interface Queryable {
  /**
   * Runs one statement.
   *
   * @param text - SQL with `$1`, `$2`, … where values go
   * @param params - these values
   * @returns the rows, also those of `RETURNING`
   */
  query(text: string, params?: readonly unknown[]): Promise<readonly Row[]>;
}

/** A PostgreSQL, wherever it runs. */
export interface Database extends Queryable, AsyncDisposable {
  /**
   * Runs a function in a transaction.
   *
   * @returns what the function returned, after the commit. If the promise rejects, the transaction
   * was rolled back, but for one case: when the connection breaks in the moment of the commit, nobody
   * knows
   */
  transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value>;
}
