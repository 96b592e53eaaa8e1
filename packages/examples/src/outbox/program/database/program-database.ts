import pg from "pg";
import { migrate } from "../../database/migrate.ts";
import { PgDatabase } from "../../database/pg-database.ts";
import { EmbeddedDatabase } from "./embedded-database.ts";
import { inSchema, SCHEMA } from "./schema.ts";
import { CREATE_TABLES } from "./tables.ts";

const RESET = [`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`, `CREATE SCHEMA ${SCHEMA}`];

/** The database of a run: a server, or an embedded one that other processes connect to all the same. */
export class ProgramDatabase implements AsyncDisposable {
  /** What workers connect to. */
  readonly url: string;
  readonly database: PgDatabase;
  readonly #embedded: EmbeddedDatabase | undefined;

  private constructor(url: string, embedded?: EmbeddedDatabase) {
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
    if (server === undefined) return await ProgramDatabase.within(await EmbeddedDatabase.start());
    return await created(new ProgramDatabase(inSchema(server)), RESET);
  }

  /** Makes all tables in an embedded database, which ends with this. */
  static async within(embedded: EmbeddedDatabase): Promise<ProgramDatabase> {
    return await created(new ProgramDatabase(embedded.url, embedded), []);
  }

  /** The tables on a server as the last run has left them. */
  static reopen(server: string): ProgramDatabase {
    return new ProgramDatabase(inSchema(server));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    await this.#embedded?.[Symbol.asyncDispose]();
  }
}

async function created(
  opened: ProgramDatabase,
  before: readonly string[],
): Promise<ProgramDatabase> {
  const { database } = opened;
  try {
    for (const statement of before) await database.query(statement);
    await migrate(database);
    for (const statement of CREATE_TABLES) await database.query(statement);
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}
