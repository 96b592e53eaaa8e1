import { type Clock, realClock } from "@holdfast/clock";
import {
  DUPLICATE_ENTRY,
  type Kinds,
  loopClock,
  read,
  requireMethods,
  uuidFrom,
} from "@holdfast/kit";
import type { Message, MessageStatus, NewMessage, SavedMessage } from "../message/message.ts";
import {
  type PendingMessage,
  pendingMessage,
  pendingMessages,
  savedMessage,
} from "../message/pending-message.ts";
import { isUuid } from "../message/stored-text.ts";
import { type Activity, activityFrom } from "../store/activity.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import {
  onTables,
  type Queryable,
  type Row,
  type Statement,
  statementOf,
  tablePrefix,
} from "../store/database.ts";
import { backlogOf, countsOf } from "../store/message-counts.ts";
import { deadLetterOf, isInvalid, messageOf } from "../store/message-row.ts";
import {
  type Backlog,
  type ClaimFilter,
  type ClaimRequest,
  type DeadLetterPage,
  type DeadLetterSelection,
  type Failure,
  type Fence,
  type MessageOrder,
  messageOrder,
  type OutboxStore,
  type Outcome,
  type SaveStatements,
} from "../store/outbox-store.ts";
import { readClaimed } from "../store/read-claimed.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import { DueMessages, lockFirst } from "./due-messages.ts";
import { changeAll, listsOf, sequenceOf } from "./lists.ts";
import { recoverClaim, writeOutcomes } from "./outcome-writer.ts";
import { hasNumber, ownTransaction, type ReadCommittedDatabase } from "./read-committed.ts";
import { insertParams, type Statements, statementsOf, textOf } from "./statements.ts";

export const MY_SQL_STORE_OPTIONS: Kinds<MySqlStoreOptions> = {
  prefix: tablePrefix,
  order: messageOrder,
  clock: loopClock,
};

/** The size of an insert of many messages, in characters. As hexadecimal digits of UTF-8 it has up to six times as many. */
const MAX_PART = 512 * 1_024;

/** Options for {@link MySqlStore}. */
export interface MySqlStoreOptions {
  /**
   * The first part of the names of its tables, as given to `migrate`: 1 to 30 lower case letters, digits and
   * underscores, not a digit first.
   *
   * @defaultValue `"outbox_"`
   */
  readonly prefix?: string | undefined;

  /**
   * The order of messages of one key. The same in all processes.
   *
   * Messages are ordered by when they are inserted, not by when they are committed: a transaction that
   * inserts first and commits last does not delay the messages of others. Keys that differ only in
   * spaces at their end are one key. While more messages than a claim looks at wait for an earlier one of their key,
   * the claim takes the first ones of the next 256 keys.
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
 * A transaction of the store that the server ends because of a deadlock (1213), a lock that it waited for too long (1205)
 * or a row that has changed since it was read (1020) runs again, up to 5 times.
 *
 * @example
 * ```ts no-run
 * import { MySqlDatabase, MySqlStore } from "@holdfast/outbox/mysql";
 * import { createPool } from "mysql2/promise";
 *
 * const pool = createPool("mysql://shop@127.0.0.1/shop");
 * const store = new MySqlStore(new MySqlDatabase(pool), { order: "key" });
 * ```
 */
export class MySqlStore implements OutboxStore<Queryable> {
  readonly order: MessageOrder;
  readonly #database: ReadCommittedDatabase;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #sql: Statements;
  readonly #due: DueMessages;

  /**
   * @param database - a `MySqlDatabase`, or any object of its shape
   * @throws RangeError or TypeError that names the option
   */
  constructor(database: ReadCommittedDatabase, options: MySqlStoreOptions = {}) {
    requireMethods("database", database, ["query", "transaction", "readCommitted"]);
    const given = read("options", options, "MySqlStore", MY_SQL_STORE_OPTIONS);
    const { prefix = "outbox_", order = "none", clock = realClock } = given;
    this.order = order;
    this.#database = database;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#sql = statementsOf(prefix, order);
    this.#due = new DueMessages(this.#sql, order);
  }

  async save(tx: Queryable, message: NewMessage, now: number): Promise<SavedMessage> {
    return await this.#saveOne(this.#on(tx), pendingMessage(message, now));
  }

  async saveAll(
    tx: Queryable,
    messages: readonly NewMessage[],
    now: number,
  ): Promise<readonly SavedMessage[]> {
    const on = this.#on(tx);
    const saved: SavedMessage[] = [];
    const parts = partsOf(pendingMessages(messages, now));
    const [row] = await on.query(this.#sql.now);
    const serverNow = Number(row?.["now"]);
    for (const part of parts) {
      // An insert that meets one that is there has saved none.
      const isSaved =
        part.length > 1 && (await isNew(() => on.query(this.#sql.insertAll(part, serverNow))));
      if (isSaved) saved.push(...part.map(({ message }) => ({ ...message, isNew: true })));
      else for (const pending of part) saved.push(await this.#saveOne(on, pending));
    }
    return saved;
  }

  async #saveOne(tx: Queryable, pending: PendingMessage): Promise<SavedMessage> {
    const { message, unique } = pending;
    const holder = unique && (await this.#take(tx, takeParams(pending)));
    const isFree = holder === undefined || holder === message.id;
    const isSaved =
      isFree && (await isNew(() => tx.query(this.#sql.insert, insertParams(pending))));
    return savedMessage(pending, isSaved, holder);
  }

  /** Takes a key if it is free; the id of whoever has it then. */
  async #take(tx: Queryable, params: TakeParams): Promise<string> {
    await tx.query(this.#sql.takeOnce, params);
    const [row] = await tx.query(this.#sql.holderOf, params.slice(0, 2));
    return String(row?.["message_id"]);
  }

  statements(message: NewMessage, now: number): SaveStatements {
    const pending = pendingMessage(message, now);
    const params = insertParams(pending);
    const statement = (text: string, values: Statement["params"]): Statement =>
      statementOf(text, /\?/, values);
    const { message: saved, unique } = pending;
    if (unique === undefined) {
      // An id of this call is new; to leave one that is there takes more rights.
      const text = message.id === undefined ? this.#sql.insert : this.#sql.insertOrLeave;
      return { message: saved, statements: [statement(text, params)] };
    }
    return {
      message: saved,
      statements: [
        statement(this.#sql.takeOnce, takeParams(pending)),
        statement(this.#sql.insertIfTaken, [...params, unique.key, saved.id]),
      ],
    };
  }

  async cancel(id: string, tx?: Queryable): Promise<boolean> {
    const work = async (on: Queryable): Promise<boolean> => {
      const rows = await on.query(this.#sql.lockNew, [id]);
      await changeAll(on, rows.map(sequenceOf), this.#sql.remove);
      if (rows.length > 0) await on.query(this.#sql.removeKeysOf, [id]);
      return rows.length > 0;
    };
    return await (tx === undefined ? this.#own(work) : work(this.#on(tx)));
  }

  async takeOnce(tx: Queryable, key: string, now: number, keep: number): Promise<boolean> {
    const own = uuidFrom(undefined);
    const at = Math.floor(now);
    return (await this.#take(this.#on(tx), ["inbox", key, own, at, at, Math.ceil(keep)])) === own;
  }

  async removeOnce(now: number, limit: number, signal?: AbortSignal): Promise<number> {
    return await this.#own(async (tx) => {
      const rows = await tx.query(this.#sql.lockOnce(now, limit));
      for (const { kind, key } of rows) await tx.query(this.#sql.removeOnce, [kind, key]);
      return rows.length;
    }, signal);
  }

  async pause(topic: string, now: number): Promise<boolean> {
    return await this.#own(async (tx) => {
      const isNew = (await tx.query(this.#sql.lockPaused(topic))).length === 0;
      if (isNew) await tx.query(this.#sql.pause(topic, now));
      return isNew;
    });
  }

  async resume(topic: string): Promise<boolean> {
    return await this.#own(async (tx) => {
      const isPaused = (await tx.query(this.#sql.lockPaused(topic))).length > 0;
      if (isPaused) await tx.query(this.#sql.resume(topic));
      return isPaused;
    });
  }

  async pausedTopics(signal?: AbortSignal): Promise<readonly string[]> {
    const rows = await this.#query(this.#sql.pausedTopics, [], signal);
    return rows.map((row) => textOf(String(row["topic_digits"])));
  }

  async claim(request: ClaimRequest, signal?: AbortSignal): Promise<Claimed> {
    const { relay, now, until, limit, maxBytes } = request;
    let sequences: readonly unknown[] = [];
    const rows = await this.#own(async (tx) => {
      const due = await this.#due.find(tx, request, { now, limit });
      const locked = await lockFirst(tx, this.#sql, due, { now, limit });
      sequences = within(maxBytes, locked).map(sequenceOf);
      await changeAll(tx, sequences, this.#sql.claim, [relay, Math.round(until)]);
      const claimed: Row[] = [];
      for (const list of listsOf(sequences))
        claimed.push(...(await tx.query(this.#sql.claimed(list.length), list)));
      return claimed;
    }, signal);
    const release = () => this.#own((tx) => changeAll(tx, sequences, this.#sql.release));
    return await this.#read(rows, now, release);
  }

  async now(signal?: AbortSignal): Promise<number> {
    const [row] = await this.#query(this.#sql.now, [], signal);
    return Number(row?.["now"]);
  }

  async nextDue(signal?: AbortSignal, filter: ClaimFilter = {}): Promise<number | undefined> {
    const on: Queryable = { query: (text) => this.#query(text, [], signal) };
    return await this.#due.next(on, filter);
  }

  async write(outcomes: readonly Outcome[], signal?: AbortSignal): Promise<readonly boolean[]> {
    return await this.#own((tx) => writeOutcomes(tx, this.#sql, outcomes), signal);
  }

  async expired(now: number, limit: number, signal?: AbortSignal): Promise<Claimed> {
    const rows = await this.#query(this.#sql.expired(now, limit), [], signal);
    return await this.#read(rows, now);
  }

  async recover(
    claim: Claim,
    failure: Failure,
    fence: Fence,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { name, token } = fence;
    return await this.#own(async (tx) => {
      await tx.query(this.#sql.insertFence, [name, token]);
      const [row] = await tx.query(this.#sql.lockFence, [name]);
      const newest = Number(row?.["token"]);
      if (token < newest) throw new StaleFenceError(fence);
      if (token > newest) await tx.query(this.#sql.setFence, [token, name]);
      return await recoverClaim(tx, this.#sql, { claim, failure });
    }, signal);
  }

  async deadLetters({ topic, after, limit }: DeadLetterPage): Promise<readonly Message[]> {
    const text = this.#sql.deadLetters({
      topic: topic !== undefined,
      after: after !== undefined,
      limit: 2 ** Math.ceil(Math.log2(limit)), // a text for each limit would be a prepared statement
    });
    const last = after === undefined ? [] : [after.updatedAt, after.updatedAt, after.id];
    const rows = await this.#query(text, topic === undefined ? last : [topic, ...last]);
    return rows.slice(0, limit).map((row) => deadLetterOf(plainRow(row)));
  }

  async replay(selection: DeadLetterSelection, now: number): Promise<number> {
    return await this.#changeDead(selection, this.#sql.replay, [Math.round(now), Math.round(now)]);
  }

  async discard(selection: DeadLetterSelection): Promise<number> {
    return await this.#changeDead(selection, this.#sql.remove);
  }

  async removeDelivered(before: number, limit: number, signal?: AbortSignal): Promise<number> {
    const text = this.#sql.lockDelivered(before, limit);
    return await this.#own(
      async (tx) => changeAll(tx, (await tx.query(text)).map(sequenceOf), this.#sql.remove),
      signal,
    );
  }

  async find(id: string): Promise<Message | undefined> {
    const params = [id.toLowerCase()];
    const [row] = isUuid(id) ? await this.#query(this.#sql.find, params) : [];
    if (row === undefined) return undefined;
    const message = messageOf(plainRow(row));
    return isInvalid(message) ? undefined : message;
  }

  async backlog(signal?: AbortSignal): Promise<Backlog> {
    return backlogOf(await this.#query(this.#sql.backlog, [], signal));
  }

  async oldest(signal?: AbortSignal): Promise<number | undefined> {
    const [row] = await this.#query(this.#sql.oldest, [], signal);
    return row === undefined ? undefined : Number(row["oldest"]);
  }

  async activity(since: number, signal?: AbortSignal): Promise<readonly Activity[]> {
    const rows = await this.#query(this.#sql.activity(since), [], signal);
    return activityFrom(
      rows.map((row) => ({ ...row, topic: textOf(String(row["topic_digits"])) })),
    );
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    return countsOf(await this.#query(this.#sql.counts));
  }

  #own<Value>(work: (tx: Queryable) => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    return ownTransaction(this.#database, (tx) => work(this.#on(tx)), this.#clock, signal);
  }

  /** Its errors say what creates a table that is missing. */
  #on(tx: Queryable): Queryable {
    return onTables(tx, this.#prefix);
  }

  #query(...statement: Parameters<Queryable["query"]>): ReturnType<Queryable["query"]> {
    return this.#on(this.#database).query(...statement);
  }

  async #changeDead(
    selection: DeadLetterSelection,
    textOf: (count: number) => string,
    params: readonly unknown[] = [],
  ): Promise<number> {
    return await this.#own(async (tx) => {
      let count = 0;
      for (const [text, values] of this.#findDead(selection))
        for (const list of listsOf((await tx.query(text, values)).map(sequenceOf))) {
          const locked = await tx.query(this.#sql.lockDead(list.length), list);
          count += await changeAll(tx, locked.map(sequenceOf), textOf, params);
        }
      return count;
    });
  }

  /** The statements that find the dead letters of a selection, with their values. */
  #findDead(selection: DeadLetterSelection): readonly (readonly [string, readonly unknown[]])[] {
    if (selection === "all") return [[this.#sql.findDead("all"), []]];
    if ("topic" in selection) return [[this.#sql.findDead("topic"), [selection.topic]]];
    return listsOf([...new Set(selection.ids)]).map((list) => [
      this.#sql.findDead({ ids: list.length }),
      list,
    ]);
  }

  async #read(
    rows: readonly Row[],
    now: number,
    release?: () => Promise<unknown>,
  ): Promise<Claimed> {
    const deadLetter = (row: Row, problem: string) => {
      const params = [Math.round(now), problem, row["id"], row["claim_number"]];
      return this.#own((tx) => tx.query(this.#sql.deadLetter, params));
    };
    return await readClaimed(rows.map(plainRow), deadLetter, release);
  }
}

/** The kind, the key, whose it is, now twice, and how long. */
type TakeParams = readonly [string, string, string, number, number, number];

function takeParams({ message, unique }: PendingMessage): TakeParams {
  const { key = "", within = 0 } = unique ?? {};
  const { id, createdAt } = message;
  return ["message", key, id, createdAt, createdAt, Math.ceil(within)];
}

/** Whether an insert met nothing that is there. Without an error, the server would need a right to change it. */
async function isNew(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (cause) {
    if (!hasNumber(cause, DUPLICATE_ENTRY)) throw cause;
    return false;
  }
}

/** Messages for one insert: not above a size, which a packet has at least. Those with a unique key are alone. */
function partsOf(pending: readonly PendingMessage[]): readonly (readonly PendingMessage[])[] {
  const parts: PendingMessage[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of pending) {
    const own = each.unique === undefined ? each.payload.length + 1_024 : MAX_PART;
    if (size + own > MAX_PART) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(each);
    size += own;
  }
  return parts;
}

/** The first row, and those that have room after it. */
function within(maxBytes = Number.POSITIVE_INFINITY, rows: readonly Row[]): readonly Row[] {
  let sum = 0;
  return rows.filter((row, place) => {
    sum += Number(row["bytes"]);
    return place === 0 || sum <= maxBytes;
  });
}

/** Columns with whole numbers, which some pool options return as text. */
const NUMBERS = [
  ...["created_at", "updated_at", "due_at", "expires_at", "claimed_until", "claim_number"],
  ...["failed_attempts", "expired_claims", "max_attempts", "priority"],
];

/** A row as PostgreSQL would give it. */
function plainRow(row: Row): Row {
  const numbers = NUMBERS.map((column) => [column, numberOrNone(row[column])]);
  return { ...row, ...Object.fromEntries(numbers) };
}

/** An object stays as it is: a setting of the driver has made it, and the row is not at fault. */
function numberOrNone(value: unknown): unknown {
  return typeof value === "object" ? value : Number(value);
}
