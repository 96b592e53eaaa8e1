import { type Clock, realClock } from "@holdfast/clock";
import { requireClock, requireMethods, requireOptions } from "@holdfast/clock/internal";
import type { Message, MessageStatus, NewMessage } from "../message/message.ts";
import { pendingMessage } from "../message/pending-message.ts";
import { isUuid } from "../message/stored-text.ts";
import { Batch } from "../store/batch.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import {
  type Queryable,
  type Row,
  requirePrefix,
  type Statement,
  statementOf,
} from "../store/database.ts";
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
  type SaveStatements,
} from "../store/outbox-store.ts";
import { readClaimed } from "../store/read-claimed.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import { changeAll, listsOf, sequenceOf } from "./lists.ts";
import { Outcomes, type Success } from "./outcomes.ts";
import { plainRow } from "./plain-row.ts";
import {
  DUPLICATE_ENTRY,
  hasNumber,
  ownTransaction,
  type ReadCommittedDatabase,
} from "./read-committed.ts";
import { type Statements, statementsOf } from "./statements.ts";

/** Options for {@link MySqlStore}. */
export interface MySqlStoreOptions {
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
   * Messages are ordered by when they are inserted, not by when they are committed: a transaction that
   * inserts first and commits last does not hold back the messages of others. Keys that differ only in
   * spaces at their end are one key.
   *
   * @defaultValue `"none"`
   */
  readonly order?: MessageOrder | undefined;

  /**
   * The clock of the waits after a deadlock.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Messages in MySQL 8 or MariaDB 10.6 or later, in the tables that `migrate` makes. One node takes all
 * writes. The server's `binlog_format` must not be `STATEMENT`.
 *
 * A transaction of the store that the server ends because of a deadlock (1213) or a lock that it waited
 * for too long (1205) runs again, up to 5 times.
 *
 * @example
 * ```ts no-run
 * import { MySqlDatabase, MySqlStore } from "@holdfast/outbox/mysql";
 * import { createPool } from "mysql2/promise";
 *
 * const pool = createPool("mysql://shop@127.0.0.1/shop");
 * const store = new MySqlStore(new MySqlDatabase(pool), { order: "businessKey" });
 * ```
 */
export class MySqlStore implements OutboxStore<Queryable> {
  readonly order: MessageOrder;
  readonly #database: ReadCommittedDatabase;
  readonly #clock: Clock;
  readonly #sql: Statements;
  readonly #outcomes: Outcomes;
  /** One transaction for all that were confirmed at once. */
  readonly #successes = new Batch<Success, boolean>((all) =>
    this.#own((tx) => this.#outcomes.succeed(tx, all)),
  );

  /**
   * @param database - a `MySqlDatabase`, or any object of its shape
   * @throws RangeError or TypeError that names the option
   */
  constructor(database: ReadCommittedDatabase, options: MySqlStoreOptions = {}) {
    requireMethods("database", database, ["query", "transaction", "readCommitted"]);
    requireOptions("options", options);
    const { prefix = "outbox_", order = "none", clock = realClock } = options;
    requirePrefix("options.prefix", prefix);
    requireOrder("options.order", order);
    requireClock("options.clock", clock);
    this.order = order;
    this.#database = database;
    this.#clock = clock;
    this.#sql = statementsOf(prefix, order);
    this.#outcomes = new Outcomes(this.#sql, order);
  }

  async save(tx: Queryable, message: NewMessage, now: number): Promise<Message> {
    const { saved, row, content } = insertOf(message, now);
    try {
      await tx.query(this.#sql.insertMessage, row);
    } catch (cause) {
      if (!hasNumber(cause, DUPLICATE_ENTRY)) throw cause;
      throw new RangeError(`message.id must be new, got ${saved.id}`, { cause });
    }
    await tx.query(this.#sql.insertContent, content);
    return saved;
  }

  statements(message: NewMessage, now: number): SaveStatements {
    const { saved, row, content } = insertOf(message, now);
    const statements = [
      statementOf(this.#sql.insertMessage, /\?/, row),
      statementOf(this.#sql.insertContent, /\?/, content),
    ];
    return { message: saved, statements };
  }

  async claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed> {
    return await this.#claim(request, async (tx) => {
      const rows: Row[] = [];
      for (const list of listsOf(ids))
        rows.push(...(await tx.query(this.#sql.lockSaved(list.length), list)));
      return rows;
    });
  }

  async claimDue(request: ClaimRequest, limit: number): Promise<Claimed> {
    const text = this.#sql.lockDue(request.now, limit);
    return await this.#claim(request, (tx) => tx.query(text));
  }

  async nextDue(): Promise<number | undefined> {
    const [row] = await this.#database.query(this.#sql.nextDue);
    return row === undefined ? undefined : Number(row["due_at"]);
  }

  async markSuccess(claim: Claim, now: number): Promise<boolean> {
    return await this.#successes.call({ claim, now });
  }

  async markFail(claim: Claim, failure: Failure): Promise<boolean> {
    const change = { text: this.#sql.markFail, failure, editor: claim.worker };
    return await this.#own((tx) => this.#outcomes.fail(tx, claim, change));
  }

  async release(claim: Claim): Promise<boolean> {
    return await this.#own((tx) => this.#outcomes.release(tx, claim));
  }

  async orphans(now: number, limit: number): Promise<Claimed> {
    return await this.#read(await this.#database.query(this.#sql.orphans(now, limit)), now);
  }

  async releaseOrphan(claim: Claim, lost: Failure, fence: Fence): Promise<boolean> {
    const { name, token } = fence;
    const change = { text: this.#sql.releaseOrphan, failure: lost, editor: name };
    return await this.#own(async (tx) => {
      await tx.query(this.#sql.insertFence, [name, token]);
      const [row] = await tx.query(this.#sql.lockFence, [name]);
      const newest = Number(row?.["token"]);
      if (token < newest) throw new StaleFenceError(fence);
      if (token > newest) await tx.query(this.#sql.setFence, [token, name]);
      return await this.#outcomes.fail(tx, claim, change);
    });
  }

  async replay(request: ReplayRequest): Promise<number> {
    const ids = requireReplay(request);
    const { editor, now } = request;
    const lists = ids === undefined ? [undefined] : listsOf([...new Set(ids)]);
    const change = [Math.round(now), editor, Math.round(now)];
    return await this.#own(async (tx) => {
      let count = 0;
      for (const list of lists) {
        const dead = await tx.query(this.#sql.lockDead(list?.length), list);
        count += await changeAll(tx, dead.map(sequenceOf), this.#sql.replay, change);
      }
      return count;
    });
  }

  async removeConfirmed(before: number, limit: number): Promise<number> {
    const text = this.#sql.lockConfirmed(before, limit);
    return await this.#own(async (tx) =>
      changeAll(tx, (await tx.query(text)).map(sequenceOf), this.#sql.remove),
    );
  }

  async find(id: string): Promise<Message | undefined> {
    const params = [id.toLowerCase()];
    const [row] = isUuid(id) ? await this.#database.query(this.#sql.find, params) : [];
    if (row === undefined) return undefined;
    const message = messageOf(plainRow(row));
    return isBroken(message) ? undefined : message;
  }

  async backlog(): Promise<Backlog> {
    return backlogOf(await this.#database.query(this.#sql.backlog));
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    return countsOf(await this.#database.query(this.#sql.counts));
  }

  #own<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    return ownTransaction(this.#database, work, { clock: this.#clock });
  }

  async #claim(
    { worker, now, until }: ClaimRequest,
    lock: (tx: Queryable) => Promise<readonly Row[]>,
  ): Promise<Claimed> {
    const rows = await this.#own(async (tx) => {
      const sequences = (await lock(tx)).map(sequenceOf);
      await changeAll(tx, sequences, this.#sql.claim, [worker, Math.round(until)]);
      const claimed: Row[] = [];
      for (const list of listsOf(sequences))
        claimed.push(...(await tx.query(this.#sql.claimed(list.length), list)));
      return claimed;
    });
    return await this.#read(rows, now);
  }

  async #read(rows: readonly Row[], now: number): Promise<Claimed> {
    return await readClaimed(rows.map(plainRow), (row, problem) => {
      const params = [Math.round(now), problem, row["id"], row["claim_number"]];
      return this.#own((tx) => tx.query(this.#sql.bury, params));
    });
  }
}

function insertOf(
  given: NewMessage,
  now: number,
): { saved: Message; row: Statement["params"]; content: Statement["params"] } {
  const { message, json } = pendingMessage(given, now);
  const { id, createTime, creator, maxRetryTimes, nextScheduleTime, route } = message;
  const row = [
    ...[id, createTime, createTime, creator, creator, maxRetryTimes, nextScheduleTime],
    ...[message.initBackoff, message.backoffFactor],
    ...[route.queue, route.exchange, route.exchangeType, route.routingKey],
    ...[message.businessModule, message.businessKey],
  ];
  return { saved: message, row, content: [id, json] };
}
