import {
  func,
  type Kinds,
  kind,
  onTable,
  required,
  requireSignal,
  requireString,
  requireText,
  uuidFrom,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import type { LeaseRecord } from "../election/lease-record.ts";
import { LockConflictError } from "../election/lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "../election/resource-lock.ts";

/** Name of the table of all locks of a database. */
export const DEFAULT_TABLE = "holdfast_lock";

/** Longest name of a lock, in bytes of UTF-8. */
const MAX_NAME = 255;

/** Columns of a record, in the order of {@link valuesOf}. */
const COLUMNS = "version holder lease_duration acquired_at renewed_at transitions".split(" ");

export const SQL_LOCK_OPTIONS: Kinds<SqlLockOptions> = {
  name: required(kind("lockName", requireLockName)),
  table: kind("tableName", requireTable),
  random: func,
};

/** Options of every lock in a table. */
interface SqlLockOptions {
  readonly name: string;
  readonly table?: string | undefined;
  readonly random?: Random | undefined;
}

type Request<Response> = (sql: string, values: unknown[], signal: AbortSignal) => Promise<Response>;

/** What differs between two databases, and their clients. */
export interface Dialect {
  /** Locks of one client and one table can be listed together. */
  readonly client: object;

  /** The parameter at a place, from 1. */
  readonly parameter: (place: number) => string;

  /** Statement for the server's time: one row with milliseconds since the epoch as `now`. */
  readonly now: string;

  /** Creates the table if it does not exist. */
  readonly createTable: (table: string, signal: AbortSignal) => Promise<void>;

  /** Returns the rows that a statement reads. */
  readonly read: Request<readonly unknown[]>;

  /** Returns whether the row was inserted: not, if there is one of that name. */
  readonly insert: Request<boolean>;

  /** Returns whether the row was updated. */
  readonly update: Request<boolean>;

  /** Returns why rows of a table may be hidden; undefined if none are. */
  readonly restriction?: (table: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** A lock that is a row of a table. */
export abstract class SqlLock implements ResourceLock {
  readonly description: string;
  readonly #dialect: Dialect;
  readonly #name: string;
  readonly #table: string;
  readonly #random: Random | undefined;
  #firstToken = 0;

  /** @internal */
  constructor(dialect: Dialect, { name, table = DEFAULT_TABLE, random }: SqlLockOptions) {
    this.#random = random;
    this.#dialect = { ...dialect, ...requestsOn(table, dialect) };
    this.#name = name;
    this.#table = table;
    this.description = `row ${name} of ${table}`;
  }

  /** Smallest token of a term without a row: milliseconds since the epoch at the last such `get`, by the server. */
  get firstToken(): number {
    return this.#firstToken;
  }

  /**
   * Creates the table if it does not exist. Processes that start together wait for one another. Needs the right to
   * create tables if it does not.
   *
   * @param signal - aborts the request; the server may still create the table
   */
  async createTable(signal: AbortSignal = new AbortController().signal): Promise<void> {
    requireSignal("signal", signal);
    await this.#dialect.createTable(this.#table, signal);
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    const { parameter, now } = this.#dialect;
    const sql = `SELECT ${COLUMNS.join(", ")} FROM ${this.#table} WHERE name = ${parameter(1)}`;
    const [row] = await this.#dialect.read(sql, [this.#name], signal);
    if (row !== undefined) return recordOf(row as Row);
    const [time] = await this.#dialect.read(now, [], signal);
    // Drivers return a decimal number as text.
    this.#firstToken = Math.floor(Number((time as Row)["now"]));
    return undefined;
  }

  /**
   * Reads the records of several locks in one statement.
   *
   * @param locks - locks of the same client and table
   * @param signal - aborts the request
   * @returns for each lock its record; undefined if it has none
   * @throws TypeError if a lock has another client or table
   */
  async list(
    locks: readonly ResourceLock[],
    signal: AbortSignal,
  ): Promise<readonly (Versioned | undefined)[]> {
    const names = locks.map((lock) => this.#nameBeside(lock));
    const values = filledUp(names);
    const parameters = values.map((_, at) => this.#dialect.parameter(at + 1)).join(", ");
    const sql = `SELECT name, ${COLUMNS.join(", ")} FROM ${this.#table} WHERE name IN (${parameters})`;
    const rows = (await this.#dialect.read(sql, values, signal)) as readonly Row[];
    // A driver may return the bytes of a name.
    const found = new Map(rows.map((row) => [String(row["name"]), recordOf(row)]));
    return names.map((name) => found.get(name));
  }

  #nameBeside(lock: ResourceLock): string {
    const isBeside =
      lock instanceof SqlLock &&
      lock.#table === this.#table &&
      lock.#dialect.client === this.#dialect.client;
    if (isBeside) return lock.#name;
    throw new TypeError(
      `locks must be rows of ${this.#table} of one client, got ${lock.description}`,
    );
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const version = uuidFrom(this.#random);
    const columns = [...COLUMNS, "name"];
    const parameters = columns.map((_, at) => this.#dialect.parameter(at + 1));
    const sql = `INSERT INTO ${this.#table} (${columns.join(", ")}) VALUES (${parameters.join(", ")})`;
    const values = [...valuesOf(version, record), this.#name];
    if (await this.#dialect.insert(sql, values, signal)) return { record, version };
    throw await this.#refusal(undefined, signal);
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const next = uuidFrom(this.#random);
    const parameter = (at: number): string => this.#dialect.parameter(at + 1);
    const changes = COLUMNS.map((column, at) => `${column} = ${parameter(at)}`).join(", ");
    const after = COLUMNS.length;
    const sql = `UPDATE ${this.#table} SET ${changes}
      WHERE name = ${parameter(after)} AND version = ${parameter(after + 1)}`;
    const values = [...valuesOf(next, record), this.#name, version];
    if (await this.#dialect.update(sql, values, signal)) return { record, version: next };
    throw await this.#refusal(version, signal);
  }

  /** Why a write found another version than there is: another process was faster, or the row is hidden for ever. */
  async #refusal(version: string | undefined, signal: AbortSignal): Promise<Error> {
    const reason = await this.#dialect.restriction?.(this.#table, signal);
    const isHidden = reason !== undefined && (await this.get(signal))?.version === version;
    return isHidden
      ? new Error(`${this.description}: ${reason}`)
      : new LockConflictError(this.description);
  }
}

/** The requests of a dialect, whose errors say what creates the table. */
function requestsOn(
  table: string,
  { read, insert, update }: Dialect,
): Pick<Dialect, "read" | "insert" | "update"> {
  const remedy = "create it by createTable() of a lock, or by createTableSql() in a migration";
  const on =
    <Response>(request: Request<Response>): Request<Response> =>
    (...statement) =>
      onTable(table, remedy, () => request(...statement));
  return { read: on(read), insert: on(insert), update: on(update) };
}

type Row = Readonly<Record<string, unknown>>;

function valuesOf(version: string, record: LeaseRecord): unknown[] {
  const { holder, leaseDuration, acquiredAt, renewedAt, transitions } = record;
  return [version, holder, leaseDuration, acquiredAt, renewedAt, transitions];
}

/** Record of a row. The elector validates it. */
function recordOf(row: Row): Versioned {
  return {
    version: row["version"] as string,
    record: {
      holder: row["holder"] as string,
      // Some settings of a driver return numbers as texts or as BigInts.
      leaseDuration: Number(row["lease_duration"]),
      acquiredAt: Number(row["acquired_at"]),
      renewedAt: Number(row["renewed_at"]),
      transitions: Number(row["transitions"]),
    },
  };
}

/**
 * A list that is filled up with its last value to a power of two: a server that prepares statements keeps one for each
 * length.
 */
function filledUp(names: readonly string[]): string[] {
  const list = [...names];
  const last = list.at(-1) as string;
  while (list.length > 0 && !Number.isInteger(Math.log2(list.length))) list.push(last);
  return list;
}

/** A table, in a schema if one is named: a part of the SQL, so it is checked and never quoted. */
export function requireTable(name: string, table: string): void {
  requireString(name, table);
  if (!/^([a-z_][a-z\d_]{0,62}\.)?[a-z_][a-z\d_]{0,62}$/.test(table))
    throw new RangeError(
      `${name} must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got ${JSON.stringify(table.slice(0, 60))}`,
    );
}

/** A name that both databases store unchanged. */
function requireLockName(name: string, value: string): void {
  requireText(name, value);
  if (/\0|\p{Surrogate}/u.test(value))
    throw new RangeError(`${name} must be well-formed Unicode without NUL`);
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > MAX_NAME)
    throw new RangeError(`${name} must be at most ${MAX_NAME} bytes of UTF-8, got ${bytes}`);
}
