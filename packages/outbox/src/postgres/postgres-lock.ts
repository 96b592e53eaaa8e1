import { type OptionNames, requireMethods, requireOptions } from "@holdfast/clock/internal";
import {
  type LeaseRecord,
  LockConflictError,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";
import { requireStoredName } from "../message/stored-text.ts";
import { type Database, requirePrefix } from "../store/database.ts";
import { leaseOf } from "../store/lease-row.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

const OPTIONS: OptionNames<PostgresLockOptions> = {
  prefix: true,
};

const COLUMNS = "version::text, holder, lease_duration, acquired_at, renewed_at, transitions";

/** Options for {@link PostgresLock}. */
export interface PostgresLockOptions extends Pick<PostgresStoreOptions, "prefix"> {}

/**
 * A lock that is a row of the database in which the messages are, for `Compensation`, `Retention` and
 * every `LeaderElector`.
 *
 * @example
 * ```ts no-run
 * import { PgDatabase, PostgresLock } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const lock = new PostgresLock(new PgDatabase(new pg.Pool()), "outbox-upkeep");
 * ```
 */
export class PostgresLock implements ResourceLock {
  readonly description: string;
  readonly #database: Database;
  readonly #name: string;
  readonly #prefix: string;

  /**
   * @param database - the database that `migrate` was run on
   * @param name - electors of the same name compete; not empty, at most 255 bytes of UTF-8
   * @param options - see {@link PostgresLockOptions}
   * @throws RangeError or TypeError that names the argument
   */
  constructor(database: Database, name: string, options: PostgresLockOptions = {}) {
    requireMethods("database", database, ["query"]);
    requireStoredName("name", name);
    requireOptions("options", options, "PostgresLock", OPTIONS);
    const { prefix = "outbox_" } = options;
    requirePrefix("options.prefix", prefix);
    this.#database = database;
    this.#name = name;
    this.#prefix = prefix;
    this.description = `row ${name} of ${prefix}lock`;
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    signal.throwIfAborted();
    const [row] = await this.#database.query(
      `SELECT ${COLUMNS} FROM ${this.#prefix}lock WHERE name = $1`,
      [this.#name],
    );
    return row === undefined ? undefined : leaseOf(row);
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const text = `
      INSERT INTO ${this.#prefix}lock
        (name, holder, lease_duration, acquired_at, renewed_at, transitions)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (name) DO NOTHING
      RETURNING ${COLUMNS}`;
    return await this.#write(text, valuesOf(record), signal);
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const text = `
      UPDATE ${this.#prefix}lock SET
        version = nextval('${this.#prefix}lock_version'), holder = $2, lease_duration = $3,
        acquired_at = $4, renewed_at = $5, transitions = $6
      WHERE name = $1 AND version::text = $7
      RETURNING ${COLUMNS}`;
    return await this.#write(text, [...valuesOf(record), version], signal);
  }

  async #write(text: string, values: readonly unknown[], signal: AbortSignal): Promise<Versioned> {
    signal.throwIfAborted();
    const [row] = await this.#database.query(text, [this.#name, ...values]);
    if (row === undefined) throw new LockConflictError(this.description);
    return leaseOf(row);
  }
}

function valuesOf(record: LeaseRecord): readonly unknown[] {
  const { holder, leaseDuration, acquiredAt, renewedAt, transitions } = record;
  return [holder, leaseDuration, acquiredAt, renewedAt, transitions];
}
