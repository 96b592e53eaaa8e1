import type { ResourceLock } from "@holdfast/controller";
import type { Database, OutboxStore, Queryable } from "@holdfast/outbox";
import type { DatabaseName, Dialect, OpenDatabase } from "./dialect.ts";
import { EmbeddedDatabase } from "./embedded-database.ts";
import { loadDialect } from "./load-dialect.ts";

/** The maximum number of connections of the program itself. */
const CONNECTIONS = 8;

/** The name of a database and the URL of its server; undefined for PGlite. */
export interface DatabaseAddress {
  readonly database: DatabaseName;
  readonly databaseUrl: string | undefined;
}

/** The database of a run: a server, or an embedded one that other processes connect to all the same. */
export class ProgramDatabase implements AsyncDisposable {
  readonly name: DatabaseName;
  readonly dialect: Dialect;
  /** The URL that workers connect to. */
  readonly url: string;
  readonly #opened: OpenDatabase;
  readonly #embedded: EmbeddedDatabase | undefined;

  private constructor(name: DatabaseName, dialect: Dialect, where: string | EmbeddedDatabase) {
    this.name = name;
    this.dialect = dialect;
    this.url = typeof where === "string" ? dialect.partOf(where) : where.url;
    this.#opened = dialect.open(this.url, CONNECTIONS);
    this.#embedded = typeof where === "string" ? undefined : where;
  }

  /** Recreates all tables. Other tables of a server are not touched. */
  static async open(address: DatabaseAddress): Promise<ProgramDatabase> {
    const { database, databaseUrl } = address;
    if (databaseUrl === undefined)
      return await ProgramDatabase.within(await EmbeddedDatabase.start());
    const dialect = await loadDialect(database);
    await dialect.reset(databaseUrl);
    return await created(new ProgramDatabase(database, dialect, databaseUrl));
  }

  /** Makes all tables in an embedded database, which ends with this. */
  static async within(embedded: EmbeddedDatabase): Promise<ProgramDatabase> {
    const name = "pglite";
    return await created(new ProgramDatabase(name, await loadDialect(name), embedded));
  }

  /** The tables on a server as the last run has left them. */
  static async reopen(database: DatabaseName, server: string): Promise<ProgramDatabase> {
    return new ProgramDatabase(database, await loadDialect(database), server);
  }

  get database(): Database {
    return this.#opened.database;
  }

  get store(): OutboxStore<Queryable> {
    return this.#opened.store;
  }

  get lock(): ResourceLock {
    return this.#opened.lock;
  }

  /** Makes all tables. */
  async create(): Promise<void> {
    await this.#opened.migrate();
    for (const statement of this.dialect.createTables) await this.database.query(statement);
  }

  /** Lets the effect of a message take place, unless it has. */
  async apply(messageId: string): Promise<boolean> {
    return await this.#opened.applyEffect(messageId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
    await this.#embedded?.[Symbol.asyncDispose]();
  }
}

async function created(opened: ProgramDatabase): Promise<ProgramDatabase> {
  try {
    await opened.create();
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}
