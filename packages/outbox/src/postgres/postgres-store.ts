import { requireMethods, requireOptions } from "@holdfast/clock/internal";
import type { Message, MessageStatus, NewMessage } from "../message/message.ts";
import { pendingMessage } from "../message/pending-message.ts";
import { isUuid } from "../message/stored-text.ts";
import { Batch } from "../store/batch.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import { type Queryable, requirePrefix, type Statement, statementOf } from "../store/database.ts";
import { backlogOf, countsOf } from "../store/message-counts.ts";
import { isBroken, messageOf } from "../store/message-row.ts";
import {
  type Backlog,
  type ClaimRequest,
  type Failure,
  type Fence,
  type MessageOrder,
  type OutboxStore,
  type ReplayRequest,
  requireOrder,
  requireReplay,
  type SaveOptions,
  type SaveStatements,
} from "../store/outbox-store.ts";
import { readClaimed } from "../store/read-claimed.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { channelOf, type Statements, statementsOf } from "./statements.ts";

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
   * The order of messages of one business key. The same in all processes.
   *
   * @defaultValue `"none"`
   */
  readonly order?: MessageOrder | undefined;
}

interface Success {
  readonly claim: Claim;
  readonly now: number;
}

/**
 * Messages in PostgreSQL 12 or later, in the tables that `migrate` makes.
 *
 * @example
 * ```ts no-run
 * import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const store = new PostgresStore(new PgDatabase(new pg.Pool()), { order: "businessKey" });
 * ```
 */
export class PostgresStore implements OutboxStore<Queryable> {
  readonly order: MessageOrder;
  /** Present if the database can listen. */
  readonly listen?: NonNullable<OutboxStore<Queryable>["listen"]>;
  readonly #database: PostgresDatabase;
  readonly #sql: Statements;
  /** One statement and one commit for all that were confirmed at once. */
  readonly #successes = new Batch<Success, boolean>((all) => this.#markSuccess(all));

  /**
   * @param database - a `PgDatabase`, a `PGliteDatabase`, or any object of their shape
   * @throws RangeError or TypeError that names the option
   */
  constructor(database: PostgresDatabase, options: PostgresStoreOptions = {}) {
    requireMethods("database", database, ["query", "transaction"]);
    requireOptions("options", options);
    const { prefix = "outbox_", order = "none" } = options;
    requirePrefix("options.prefix", prefix);
    requireOrder("options.order", order);
    this.order = order;
    this.#database = database;
    this.#sql = statementsOf(prefix, order);
    if (database.listen !== undefined)
      this.listen = async (onSaved, signal) => {
        // Every role of the database may notify, with any text.
        const onNotify = (id: string): void => void (isUuid(id) && onSaved([id]));
        await database.listen?.(channelOf(prefix), onNotify, signal);
      };
  }

  async save(
    tx: Queryable,
    message: NewMessage,
    now: number,
    options: SaveOptions = {},
  ): Promise<Message> {
    const { saved, params } = insertOf(message, now);
    // The database would refuse it too, but end the transaction with it.
    if (message.id !== undefined && (await this.#has(tx, saved.id)))
      throw new RangeError(`message.id must be new, got ${saved.id}`);
    await tx.query(this.#insert(options), params);
    return saved;
  }

  statements(message: NewMessage, now: number, options: SaveOptions = {}): SaveStatements {
    const { saved, params } = insertOf(message, now);
    const statement = statementOf(this.#insert(options), /\$\d+/, params);
    return { message: saved, statements: [statement] };
  }

  async claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed> {
    const { worker, now, until } = request;
    return await this.#claims(this.#sql.claimSaved, [worker, until, ids], now);
  }

  async claimDue({ worker, now, until }: ClaimRequest, limit: number): Promise<Claimed> {
    return await this.#claims(this.#sql.claimDue, [worker, until, now, limit], now);
  }

  async nextDue(): Promise<number | undefined> {
    const [row] = await this.#database.query(this.#sql.nextDue);
    return row?.["next_due"] as number | undefined;
  }

  async markSuccess(claim: Claim, now: number): Promise<boolean> {
    return await this.#successes.call({ claim, now });
  }

  async markFail(claim: Claim, failure: Failure): Promise<boolean> {
    const params = failureParams(claim, failure, claim.worker);
    const isDone = await changed(this.#database, this.#sql.markFail, params);
    if (isDone) await this.#advanceAfter(claim, failure);
    return isDone;
  }

  async release({ message, number }: Claim): Promise<boolean> {
    return await changed(this.#database, this.#sql.release, [message.id, number]);
  }

  async orphans(now: number, limit: number): Promise<Claimed> {
    return await this.#claims(this.#sql.orphans, [now, limit], now);
  }

  async releaseOrphan(claim: Claim, lost: Failure, fence: Fence): Promise<boolean> {
    const params = failureParams(claim, lost, fence.name);
    const isDone = await this.#database.transaction(async (tx) => {
      if (!(await changed(tx, this.#sql.fence, [fence.name, fence.token])))
        throw new StaleFenceError(fence);
      return await changed(tx, this.#sql.releaseOrphan, params);
    });
    if (isDone) await this.#advanceAfter(claim, lost);
    return isDone;
  }

  async replay(request: ReplayRequest): Promise<number> {
    const ids = requireReplay(request);
    const params = [ids ?? null, request.editor, request.now];
    const rows = await this.#database.query(this.#sql.replay, params);
    return rows.length;
  }

  async removeConfirmed(before: number, limit: number): Promise<number> {
    const rows = await this.#database.query(this.#sql.removeConfirmed, [before, limit]);
    return rows.length;
  }

  async find(id: string): Promise<Message | undefined> {
    const [row] = isUuid(id) ? await this.#database.query(this.#sql.find, [id]) : [];
    if (row === undefined) return undefined;
    const message = messageOf(row);
    return isBroken(message) ? undefined : message;
  }

  async backlog(): Promise<Backlog> {
    return backlogOf(await this.#database.query(this.#sql.backlog));
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    return countsOf(await this.#database.query(this.#sql.counts));
  }

  #insert({ notify = false }: SaveOptions): string {
    return notify ? this.#sql.insertAndNotify : this.#sql.insert;
  }

  async #has(tx: Queryable, id: string): Promise<boolean> {
    return (await tx.query(this.#sql.exists, [id])).length > 0;
  }

  async #markSuccess(all: readonly Success[]): Promise<readonly boolean[]> {
    const marked = await this.#database.query(this.#sql.markSuccess, [
      ...[all.map(({ claim }) => claim.message.id), all.map(({ claim }) => claim.number)],
      ...[all.map(({ claim }) => claim.worker), all.map(({ now }) => now)],
    ]);
    await this.#advance(
      marked.map(({ id }) => String(id)),
      Math.max(...all.map(({ now }) => now)),
    );
    const keys = new Set(marked.map(({ id, number }) => `${id} ${number}`));
    return all.map(({ claim }) => keys.has(`${claim.message.id} ${claim.number}`));
  }

  async #advanceAfter({ message }: Claim, { now, nextScheduleTime }: Failure): Promise<void> {
    if (nextScheduleTime === undefined) await this.#advance([message.id], now);
  }

  /** With an order, the messages that waited for these are due now. */
  async #advance(ids: readonly string[], now: number): Promise<void> {
    if (this.order === "businessKey") await this.#database.query(this.#sql.advance, [ids, now]);
  }

  async #claims(text: string, params: readonly unknown[], now: number): Promise<Claimed> {
    const rows = await this.#database.query(text, params);
    return await readClaimed(rows, (row, problem) =>
      this.#database.query(this.#sql.bury, [row["id"], row["claim_number"], now, problem]),
    );
  }
}

function insertOf(
  given: NewMessage,
  now: number,
): { readonly saved: Message; readonly params: Statement["params"] } {
  const { message, json } = pendingMessage(given, now);
  const { id, createTime, creator, maxRetryTimes, nextScheduleTime, route } = message;
  const params = [
    ...[id, createTime, creator, maxRetryTimes, nextScheduleTime],
    ...[message.initBackoff, message.backoffFactor],
    ...[route.queue, route.exchange, route.exchangeType, route.routingKey],
    ...[message.businessModule, message.businessKey, json],
  ];
  return { saved: message, params };
}

function failureParams(
  { message, number }: Claim,
  { now, error, nextScheduleTime }: Failure,
  editor: string,
): readonly unknown[] {
  return [message.id, number, editor, now, error, nextScheduleTime ?? null];
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
