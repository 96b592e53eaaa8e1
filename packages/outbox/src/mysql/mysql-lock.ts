import { type Clock, realClock } from "@holdfast/clock";
import {
  type OptionNames,
  requireClock,
  requireMethods,
  requireOptions,
} from "@holdfast/clock/internal";
import {
  type LeaseRecord,
  LockConflictError,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";
import { requireStoredName } from "../message/stored-text.ts";
import { type Queryable, type Row, requirePrefix } from "../store/database.ts";
import { leaseOf } from "../store/lease-row.ts";
import type { MySqlStoreOptions } from "./mysql-store.ts";
import { ownTransaction, type ReadCommittedDatabase } from "./read-committed.ts";

const OPTIONS: OptionNames<MySqlLockOptions> = {
  prefix: true,
  clock: true,
};

const COLUMNS = "version, holder, lease_duration, acquired_at, renewed_at, transitions";

/** Options for {@link MySqlLock}. */
export interface MySqlLockOptions extends Pick<MySqlStoreOptions, "prefix" | "clock"> {}

/**
 * A lock that is a row of the database in which the messages are, for `Compensation`, `Retention` and
 * every `LeaderElector`. It is not a `GET_LOCK`, which ends with its connection.
 *
 * @example
 * ```ts no-run
 * import { MySqlDatabase, MySqlLock } from "@holdfast/outbox/mysql";
 * import { createPool } from "mysql2/promise";
 *
 * const pool = createPool("mysql://shop@127.0.0.1/shop");
 * const lock = new MySqlLock(new MySqlDatabase(pool), "outbox-upkeep");
 * ```
 */
export class MySqlLock implements ResourceLock {
  readonly description: string;
  readonly #database: ReadCommittedDatabase;
  readonly #name: string;
  readonly #table: string;
  readonly #clock: Clock;

  /**
   * @param database - the database that `migrate` was run on
   * @param name - electors of the same name compete; not empty, at most 255 bytes of UTF-8
   * @param options - see {@link MySqlLockOptions}
   * @throws RangeError or TypeError that names the argument
   */
  constructor(database: ReadCommittedDatabase, name: string, options: MySqlLockOptions = {}) {
    requireMethods("database", database, ["query", "readCommitted"]);
    requireStoredName("name", name);
    requireOptions("options", options, "MySqlLock", OPTIONS);
    const { prefix = "outbox_", clock = realClock } = options;
    requirePrefix("options.prefix", prefix);
    requireClock("options.clock", clock);
    this.#database = database;
    this.#name = name;
    this.#table = `${prefix}lock`;
    this.#clock = clock;
    this.description = `row ${name} of ${prefix}lock`;
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    signal.throwIfAborted();
    const [row] = await this.#read(this.#database);
    return row === undefined ? undefined : leaseOf(row);
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const text = `
      INSERT INTO ${this.#table}
        (version, holder, lease_duration, acquired_at, renewed_at, transitions, name)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE name = name`;
    return await this.#write(record, signal, async (tx, values) => {
      await tx.query(text, values);
    });
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const text = `
      UPDATE ${this.#table} SET
        version = ?, holder = ?, lease_duration = ?, acquired_at = ?, renewed_at = ?, transitions = ?
      WHERE name = ?`;
    return await this.#write(record, signal, async (tx, values) => {
      const [row] = await this.#read(tx, "FOR UPDATE");
      if (row?.["version"] === version) await tx.query(text, values);
    });
  }

  /** Every version is a new one, so the row afterwards shows whether it was written. */
  async #write(
    { holder, leaseDuration, acquiredAt, renewedAt, transitions }: LeaseRecord,
    signal: AbortSignal,
    write: (tx: Queryable, values: readonly unknown[]) => Promise<void>,
  ): Promise<Versioned> {
    signal.throwIfAborted();
    const version = globalThis.crypto.randomUUID();
    const values = [version, holder, leaseDuration, acquiredAt, renewedAt, transitions, this.#name];
    const work = async (tx: Queryable): Promise<Row | undefined> => {
      await write(tx, values);
      const [row] = await this.#read(tx, "FOR UPDATE");
      return row;
    };
    const row = await ownTransaction(this.#database, work, { clock: this.#clock, signal });
    if (row?.["version"] !== version) throw new LockConflictError(this.description);
    return leaseOf(row);
  }

  #read(queryable: Queryable, locking: "" | "FOR UPDATE" = ""): Promise<readonly Row[]> {
    const text = `SELECT ${COLUMNS} FROM ${this.#table} WHERE name = ? ${locking}`;
    return queryable.query(text, [this.#name]);
  }
}
