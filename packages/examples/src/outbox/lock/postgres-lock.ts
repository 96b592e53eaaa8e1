import {
  type LeaseRecord,
  LockConflictError,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";
import type { Database, Row } from "../database/database.ts";

const COLUMNS = "version::text, holder, lease_duration, acquired_at, renewed_at, transitions";

const READ = `SELECT ${COLUMNS} FROM outbox_lock WHERE name = $1`;

const CREATE = `
  INSERT INTO outbox_lock (name, holder, lease_duration, acquired_at, renewed_at, transitions)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (name) DO NOTHING
  RETURNING ${COLUMNS}`;

const UPDATE = `
  UPDATE outbox_lock SET
    version = nextval('outbox_lock_version'), holder = $2, lease_duration = $3,
    acquired_at = $4, renewed_at = $5, transitions = $6
  WHERE name = $1 AND version::text = $7
  RETURNING ${COLUMNS}`;

/** A lock that is a row of the database in which the messages are. */
export class PostgresLock implements ResourceLock {
  readonly description: string;
  readonly #database: Database;
  readonly #name: string;

  /** @param name - electors of the same name compete */
  constructor(database: Database, name: string) {
    this.#database = database;
    this.#name = name;
    this.description = `row ${name} of outbox_lock`;
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    signal.throwIfAborted();
    const [row] = await this.#database.query(READ, [this.#name]);
    return row === undefined ? undefined : versioned(row);
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    return await this.#write(CREATE, valuesOf(record), signal);
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    return await this.#write(UPDATE, [...valuesOf(record), version], signal);
  }

  async #write(text: string, values: readonly unknown[], signal: AbortSignal): Promise<Versioned> {
    signal.throwIfAborted();
    const [row] = await this.#database.query(text, [this.#name, ...values]);
    if (row === undefined) throw new LockConflictError(this.description);
    return versioned(row);
  }
}

function valuesOf(record: LeaseRecord): readonly unknown[] {
  const { holder, leaseDuration, acquiredAt, renewedAt, transitions } = record;
  return [holder, leaseDuration, acquiredAt, renewedAt, transitions];
}

function versioned(row: Row): Versioned {
  return {
    version: row["version"] as string,
    record: {
      holder: row["holder"] as string,
      leaseDuration: row["lease_duration"] as number,
      acquiredAt: row["acquired_at"] as number,
      renewedAt: row["renewed_at"] as number,
      transitions: row["transitions"] as number,
    },
  };
}
