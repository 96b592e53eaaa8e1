import { type OptionNames, requireMethods, requireOptions } from "@holdfast/clock/internal";
import type { Message, MessageStatus, NewMessage } from "../message/message.ts";
import { pendingMessage } from "../message/pending-message.ts";
import { isUuid } from "../message/stored-text.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import { type Queryable, requirePrefix, type Statement, statementOf } from "../store/database.ts";
import { backlogOf, countsOf } from "../store/message-counts.ts";
import { deadLetterOf, isInvalid, messageOf } from "../store/message-row.ts";
import {
  type Backlog,
  type ClaimRequest,
  type DeadLetterPage,
  type DeadLetterSelection,
  type Failure,
  type Fence,
  type MessageOrder,
  type OutboxStore,
  type Outcome,
  requireOrder,
  type SaveStatements,
} from "../store/outbox-store.ts";
import { readClaimed } from "../store/read-claimed.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { channelOf, type Statements, statementsOf } from "./statements.ts";

const OPTIONS: OptionNames<PostgresStoreOptions> = {
  prefix: true,
  order: true,
};

/** Options for {@link PostgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The first part of the names of its tables, as given to `migrate`: 1 to 30 lower case letters and
   * underscores.
   *
   * @defaultValue `"outbox_"`
   */
  readonly prefix?: string | undefined;

  /**
   * The order of messages of one key. The same in all processes.
   *
   * @defaultValue `"none"`
   */
  readonly order?: MessageOrder | undefined;
}

/**
 * Messages in PostgreSQL 12 or later, in the tables that `migrate` makes.
 *
 * @example
 * ```ts no-run
 * import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const store = new PostgresStore(new PgDatabase(new pg.Pool()), { order: "key" });
 * ```
 */
export class PostgresStore implements OutboxStore<Queryable> {
  readonly order: MessageOrder;
  /** Present if the database can listen. */
  readonly listen?: NonNullable<OutboxStore<Queryable>["listen"]>;
  readonly #database: PostgresDatabase;
  readonly #sql: Statements;

  /**
   * @param database - a `PgDatabase`, a `PGliteDatabase`, or any object of their shape
   * @throws RangeError or TypeError that names the option
   */
  constructor(database: PostgresDatabase, options: PostgresStoreOptions = {}) {
    requireMethods("database", database, ["query", "transaction"]);
    requireOptions("options", options, "PostgresStore", OPTIONS);
    const { prefix = "outbox_", order = "none" } = options;
    requirePrefix("options.prefix", prefix);
    requireOrder("options.order", order);
    this.order = order;
    this.#database = database;
    this.#sql = statementsOf(prefix, order);
    if (database.listen !== undefined)
      this.listen = async (onNotify, signal) => {
        await database.listen?.(channelOf(prefix), () => onNotify(), signal);
      };
  }

  async save(tx: Queryable, message: NewMessage, now: number): Promise<Message> {
    const { saved, params } = insertOf(message, now);
    // The database would refuse it too, but end the transaction with it.
    if (message.id !== undefined && (await this.#has(tx, saved.id)))
      throw new RangeError(`message.id must be new, got ${saved.id}`);
    await tx.query(this.#sql.insert, params);
    return saved;
  }

  statements(message: NewMessage, now: number): SaveStatements {
    const { saved, params } = insertOf(message, now);
    return { message: saved, statements: [statementOf(this.#sql.insert, /\$\d+/, params)] };
  }

  async notify(): Promise<void> {
    await this.#database.query(this.#sql.notify);
  }

  async claim({ relay, now, until, limit }: ClaimRequest): Promise<Claimed> {
    return await this.#claims(this.#sql.claim, [relay, until, now, limit], now);
  }

  async nextDue(): Promise<number | undefined> {
    const [row] = await this.#database.query(this.#sql.nextDue);
    return row?.["next_due"] as number | undefined;
  }

  async write(outcomes: readonly Outcome[]): Promise<readonly boolean[]> {
    const rows = await this.#database.query(this.#sql.write, [
      outcomes.map(({ claim }) => claim.message.id),
      outcomes.map(({ claim }) => claim.number),
      outcomes.map(({ type }) => type),
      outcomes.map((outcome) => nowOf(outcome)),
      outcomes.map((outcome) =>
        outcome.type === "failed" ? (outcome.failure.dueAt ?? null) : null,
      ),
      outcomes.map((outcome) => (outcome.type === "failed" ? outcome.failure.error : null)),
    ]);
    const written = new Set(rows.map(({ id, number }) => `${id} ${number}`));
    return outcomes.map(({ claim }) => written.has(`${claim.message.id} ${claim.number}`));
  }

  async expired(now: number, limit: number): Promise<Claimed> {
    return await this.#claims(this.#sql.expired, [now, limit], now);
  }

  async recover(claim: Claim, failure: Failure, fence: Fence): Promise<boolean> {
    const { now, dueAt = null, error } = failure;
    return await this.#database.transaction(async (tx) => {
      if (!(await changed(tx, this.#sql.fence, [fence.name, fence.token])))
        throw new StaleFenceError(fence);
      const params = [claim.message.id, claim.number, now, dueAt, error];
      return await changed(tx, this.#sql.recover, params);
    });
  }

  async deadLetters({ topic, after, limit }: DeadLetterPage): Promise<readonly Message[]> {
    const params = [topic ?? null, after?.id ?? null, after?.updatedAt ?? null, limit];
    return (await this.#database.query(this.#sql.deadLetters, params)).map(deadLetterOf);
  }

  async replay(selection: DeadLetterSelection, now: number): Promise<number> {
    const params = [...selectionParams(selection), now];
    return (await this.#database.query(this.#sql.replay, params)).length;
  }

  async discard(selection: DeadLetterSelection): Promise<number> {
    return (await this.#database.query(this.#sql.discard, selectionParams(selection))).length;
  }

  async removeDelivered(before: number, limit: number): Promise<number> {
    return (await this.#database.query(this.#sql.removeDelivered, [before, limit])).length;
  }

  async find(id: string): Promise<Message | undefined> {
    const [row] = isUuid(id) ? await this.#database.query(this.#sql.find, [id]) : [];
    if (row === undefined) return undefined;
    const message = messageOf(row);
    return isInvalid(message) ? undefined : message;
  }

  async backlog(): Promise<Backlog> {
    return backlogOf(await this.#database.query(this.#sql.backlog));
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    return countsOf(await this.#database.query(this.#sql.counts));
  }

  async #has(tx: Queryable, id: string): Promise<boolean> {
    return (await tx.query(this.#sql.exists, [id])).length > 0;
  }

  async #claims(text: string, params: readonly unknown[], now: number): Promise<Claimed> {
    const rows = await this.#database.query(text, params);
    return await readClaimed(rows, (row, problem) =>
      this.#database.query(this.#sql.deadLetter, [row["id"], row["claim_number"], now, problem]),
    );
  }
}

function insertOf(
  given: NewMessage,
  now: number,
): { readonly saved: Message; readonly params: Statement["params"] } {
  const { message, headers, payload } = pendingMessage(given, now);
  const { id, topic, key, maxAttempts, initialDelay, factor, createdAt } = message;
  const params = [
    ...[id, topic, key, headers, payload],
    ...[maxAttempts, initialDelay, factor, createdAt],
  ];
  return { saved: message, params };
}

function nowOf(outcome: Outcome): number | null {
  if (outcome.type === "delivered") return outcome.now;
  return outcome.type === "failed" ? outcome.failure.now : null;
}

/** The ids and the topic of a selection. */
function selectionParams(
  selection: DeadLetterSelection,
): readonly [readonly string[] | null, string | null] {
  if (selection === "all") return [null, null];
  return "ids" in selection ? [selection.ids, null] : [null, selection.topic];
}

/** Whether a statement with a RETURNING clause has changed any row. */
async function changed(
  queryable: Queryable,
  text: string,
  params: readonly unknown[],
): Promise<boolean> {
  const rows = await queryable.query(text, params);
  return rows.length > 0;
}
