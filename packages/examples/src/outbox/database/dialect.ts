import type { ResourceLock } from "@holdfast/controller";
import type { Database, OutboxStore, Queryable } from "@holdfast/outbox";

/** The databases a run can be on. */
export const DATABASES = ["postgres", "mysql", "pglite"] as const;

export type DatabaseName = (typeof DATABASES)[number];

/** The name of the lock in the database. */
export const LOCK = "recovery";

/** A database with the parts of the outbox that fit it. */
export interface OpenDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly store: OutboxStore<Queryable>;
  /** The lock of the recovery task: the same for all processes of a run. */
  readonly lock: ResourceLock;
  /** Makes the tables of the outbox and of its lock. */
  migrate(): Promise<void>;
  /**
   * The business change of the receiver: the receipt and the effect of a message, both or neither.
   *
   * @returns false if the receipt is there already
   */
  applyEffect(messageId: string): Promise<boolean>;
}

/** One kind of database server, and the SQL of this program for it. */
export interface Dialect {
  /** The name for people. */
  readonly name: string;

  /** The URL of the part of a server that belongs to this program. */
  partOf(server: string): string;

  /** Recreates that part, empty. */
  reset(server: string): Promise<void>;

  /** Rejects if a server does not respond within so many milliseconds. */
  visit(server: string, timeout: number): Promise<void>;

  /** @param connections - the maximum number */
  open(url: string, connections: number): OpenDatabase;

  /** Makes the tables of both sides of the business, one statement each. */
  readonly createTables: readonly string[];

  /**
   * The business change of the sender.
   *
   * @returns false if the order is there already
   */
  insertOrder(tx: Queryable, order: number, messageId: string): Promise<boolean>;

  /** The `n`-th value of a statement, from 1. */
  parameter(n: number): string;

  /** A column that holds an instant, in milliseconds since the epoch. */
  milliseconds(column: string): string;
}
