import type { PGlite, Transaction } from "@electric-sql/pglite";
import type { Database, Queryable, Row } from "./database.ts";

/** A PostgreSQL inside the process. It has one connection: transactions take turns. */
export class PGliteDatabase implements Database {
  readonly #pglite: PGlite;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    return await rowsOf(this.#pglite, text, params);
  }

  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    // PGlite's own type says that a rolled back transaction may return nothing.
    return (await this.#pglite.transaction(async (tx) => {
      const value = await work({ query: (text, params = []) => rowsOf(tx, text, params) });
      // Fails if a statement had failed and nobody took notice: a commit would roll back in silence.
      await tx.query("SELECT 1");
      return value;
    })) as Value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pglite.close();
  }
}

async function rowsOf(
  connection: PGlite | Transaction,
  text: string,
  params: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await connection.query<Row>(text, [...params]);
  return rows;
}
