import { aborted } from "@holdfast/clock";
import { requireMethods } from "@holdfast/kit";
import type { PostgresDatabase } from "../postgres/postgres-database.ts";
import type { Queryable, Row } from "../store/database.ts";

/** The part of a transaction of PGlite that {@link PGliteDatabase} uses. */
export interface PGliteTransaction {
  /** Runs a statement. */
  query(text: string, params?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The part of a `PGlite` that {@link PGliteDatabase} uses. */
export interface PGliteLike extends PGliteTransaction {
  /** Runs a function in a transaction. */
  transaction<Value>(work: (tx: PGliteTransaction) => Promise<Value>): Promise<Value | undefined>;

  /** Listens on a channel, and returns a function that stops listening. */
  listen(channel: string, callback: (payload: string) => void): Promise<() => Promise<void>>;

  /** Closes the database. */
  close(): Promise<void>;
}

/**
 * A PostgreSQL inside the process. It has one connection: transactions take turns. Begin yours by its method `transaction`.
 * A `BEGIN` sent by `query` or `exec` takes no turn: the next transaction of the outbox becomes part of it, and commits it.
 *
 * It does not vacuum or analyze by itself; run `VACUUM ANALYZE outbox_message` now and then if it lives long.
 *
 * @example
 * ```ts no-run
 * import { PGlite } from "@electric-sql/pglite";
 * import { PGliteDatabase } from "@holdfast/outbox/pglite";
 * import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
 *
 * const database = new PGliteDatabase(await PGlite.create());
 * await migrate(database);
 * const store = new PostgresStore(database);
 * ```
 */
export class PGliteDatabase implements PostgresDatabase {
  readonly #pglite: PGliteLike;

  /**
   * @param pglite - a PGlite; closed with this object
   * @throws TypeError that names the argument
   */
  constructor(pglite: PGliteLike) {
    requireMethods("pglite", pglite, ["query", "transaction", "listen", "close"]);
    this.#pglite = pglite;
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    return await rowsOf(this.#pglite, text, params);
  }

  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    // PGlite's own type says that a rolled back transaction may return nothing.
    return (await this.#pglite.transaction(async (tx) => {
      const value = await work({ query: (text, params = []) => rowsOf(tx, text, params) });
      // Fails if the caller ignored a failed statement: the commit would roll back silently.
      await tx.query("SELECT 1");
      return value;
    })) as Value;
  }

  async listen(
    channel: string,
    onNotify: (payload: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const unlisten = await this.#pglite.listen(channel, onNotify);
    if (!signal.aborted) onNotify("");
    await aborted(signal);
    await unlisten();
  }

  /** Closes the PGlite. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pglite.close();
  }
}

async function rowsOf(
  connection: PGliteTransaction,
  text: string,
  params: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await connection.query(text, [...params]);
  return rows as readonly Row[];
}
