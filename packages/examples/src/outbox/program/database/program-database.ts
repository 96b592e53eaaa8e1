import pg from "pg";
import { migrate } from "../../database/migrate.ts";
import { PgDatabase } from "../../database/pg-database.ts";
import { EmbeddedDatabase } from "./embedded-database.ts";
import { inSchema, SCHEMA } from "./schema.ts";
import { CREATE_TABLES } from "./tables.ts";

/** The database of a run: a server, or an embedded one that other processes connect to all the same. */
export class ProgramDatabase implements AsyncDisposable {
  /** What workers connect to. */
  readonly url: string;
  readonly database: PgDatabase;
  readonly #embedded: EmbeddedDatabase | undefined;

  private constructor(url: string, embedded: EmbeddedDatabase | undefined) {
    this.url = url;
    this.database = new PgDatabase(new pg.Pool({ connectionString: url, max: 8 }));
    this.#embedded = embedded;
  }

  /**
   * Makes all tables anew.
   *
   * @param server - the URL of a server; what is there stays, but for the schema of this program.
   * Embedded if undefined
   */
  static async open(server: string | undefined): Promise<ProgramDatabase> {
    const embedded = server === undefined ? await EmbeddedDatabase.start() : undefined;
    const url = server === undefined ? embedded?.url : inSchema(server);
    const opened = new ProgramDatabase(url ?? "", embedded);
    try {
      await opened.#create(server !== undefined);
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    await this.#embedded?.[Symbol.asyncDispose]();
  }

  async #create(hasSchema: boolean): Promise<void> {
    const schema = [`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`, `CREATE SCHEMA ${SCHEMA}`];
    for (const statement of hasSchema ? schema : []) await this.database.query(statement);
    await migrate(this.database);
    for (const statement of CREATE_TABLES) await this.database.query(statement);
  }
}
