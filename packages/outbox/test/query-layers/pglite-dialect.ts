import type { PGlite, Transaction } from "@electric-sql/pglite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";

type Outcome = "commit" | "rollback";

/** The only connection of a PGlite, or a transaction on it. */
class PGliteConnection implements DatabaseConnection {
  readonly #pglite: PGlite;
  #tx: Transaction | undefined;
  /** Ends the transaction, if there is one. */
  #end: (outcome: Outcome) => void = () => {};
  #ended: Promise<void> = Promise.resolve();

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async begin(): Promise<void> {
    await new Promise<void>((begun, fail) => {
      this.#ended = this.#pglite.transaction(async (tx) => {
        this.#tx = tx;
        const outcome = new Promise<Outcome>((end) => {
          this.#end = end;
        });
        begun();
        if ((await outcome) === "rollback") await tx.rollback();
      });
      this.#ended.catch(fail);
    });
  }

  async end(outcome: Outcome): Promise<void> {
    this.#tx = undefined;
    this.#end(outcome);
    await this.#ended;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows } = await (this.#tx ?? this.#pglite).query<R>(sql, [...parameters]);
    return { rows };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for it, and no test streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("PGlite does not stream");
  }
}

class PGliteDriver implements Driver {
  readonly #pglite: PGlite;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PGliteConnection> {
    return new PGliteConnection(this.#pglite);
  }

  async beginTransaction(connection: PGliteConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: PGliteConnection): Promise<void> {
    await connection.end("commit");
  }

  async rollbackTransaction(connection: PGliteConnection): Promise<void> {
    await connection.end("rollback");
  }

  async savepoint(connection: PGliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`SAVEPOINT ${name}`));
  }

  async rollbackToSavepoint(connection: PGliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`ROLLBACK TO SAVEPOINT ${name}`));
  }

  async releaseSavepoint(connection: PGliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`RELEASE SAVEPOINT ${name}`));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** Kysely over a PGlite. */
export class PGliteDialect implements Dialect {
  readonly #pglite: PGlite;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  createDriver(): PGliteDriver {
    return new PGliteDriver(this.#pglite);
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(db: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(db);
  }
}
