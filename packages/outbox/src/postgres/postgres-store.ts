import { type Kinds, read, requireMethods } from "@holdfast/kit";
import type { Message, MessageStatus, NewMessage, SavedMessage } from "../message/message.ts";
import {
  type PendingMessage,
  pendingMessage,
  pendingMessages,
  savedMessages,
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
import { ClaimStatements, filterOf, STEP } from "./claim-statements.ts";
import { type InSchema, qualified, schemaName } from "./in-schema.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { channelOf, insertParams, insertSql, type Statements, statementsOf } from "./statements.ts";

/** The maximum number of times that a claim parks what it has read, and reads on. */
const PARK_STEPS = 10;

export const POSTGRES_STORE_OPTIONS: Kinds<PostgresStoreOptions> = {
  prefix: tablePrefix,
  schema: schemaName,
  order: messageOrder,
};

/** Options for {@link PostgresStore}. */
export interface PostgresStoreOptions extends InSchema {
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
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * const store = new PostgresStore(new PgDatabase(pool), { order: "key" });
 * ```
 */
export class PostgresStore implements OutboxStore<Queryable> {
  readonly order: MessageOrder;
  /** Present if the database can listen. */
  readonly listen?: NonNullable<OutboxStore<Queryable>["listen"]>;
  readonly #database: PostgresDatabase;
  readonly #sql: Statements;
  readonly #claims: ClaimStatements;
  readonly #prefix: string;
  readonly #table: string;
  /** The channel and the payload of notifications. */
  readonly #signal: readonly [string, string];
  /** The last key that was checked for messages to unpark. */
  #healed = "";
  /** Whether statements outside a transaction run at READ COMMITTED; undefined if it is not known. */
  #isReadCommitted: boolean | undefined;

  /**
   * @param database - a `PgDatabase`, a `PGliteDatabase`, or any object of their shape
   * @throws RangeError or TypeError that names the option
   */
  constructor(database: PostgresDatabase, options: PostgresStoreOptions = {}) {
    requireMethods("database", database, ["query", "transaction"]);
    const given = read("options", options, "PostgresStore", POSTGRES_STORE_OPTIONS);
    const { prefix = "outbox_", schema = "", order = "none" } = given;
    this.order = order;
    this.#database = database;
    this.#prefix = qualified(given, prefix);
    this.#sql = statementsOf(this.#prefix);
    this.#table = qualified(given, `${prefix}message`);
    this.#signal = [channelOf(prefix), schema];
    this.#claims = new ClaimStatements(this.#table, order);
    if (database.listen !== undefined)
      this.listen = async (onNotify, signal) => {
        // A payload without a schema may be of these tables: its sender finds them by search_path.
        const onPayload = (payload: string): void => {
          if (schema === "" || payload === "" || payload === schema) onNotify();
        };
        await database.listen?.(channelOf(prefix), onPayload, signal);
      };
  }

  async save(tx: Queryable, message: NewMessage, now: number): Promise<SavedMessage> {
    const pending = pendingMessage(message, now);
    const [text, params] = this.#insertOf(pending);
    // A conflict must not end the transaction, and a look before would make serializable ones fail.
    const on = this.#on(tx);
    const rows = await on.query(`${text} RETURNING true AS saved`, params);
    const ids = rows.map(() => pending.message.id);
    return (await this.#saved(on, [pending], ids))[0] as SavedMessage;
  }

  async saveAll(
    tx: Queryable,
    messages: readonly NewMessage[],
    now: number,
  ): Promise<readonly SavedMessage[]> {
    const pending = pendingMessages(messages, now);
    if (pending.length === 0) return [];
    const shape = { isList: true, hasUnique: pending.some(({ unique }) => unique !== undefined) };
    const text = `${insertSql(this.#prefix, shape)} RETURNING id`;
    const on = this.#on(tx);
    const rows = await on.query(text, insertParams(pending, shape));
    return await this.#saved(
      on,
      pending,
      rows.map(({ id }) => String(id)),
    );
  }

  statements(message: NewMessage, now: number): SaveStatements {
    const pending = pendingMessage(message, now);
    const [text, params] = this.#insertOf(pending);
    return { message: pending.message, statements: [statementOf(text, /\$\d+/, params)] };
  }

  #insertOf(pending: PendingMessage): readonly [string, Statement["params"]] {
    const shape = { isList: false, hasUnique: pending.unique !== undefined };
    const params = insertParams([pending], shape) as Statement["params"];
    return [insertSql(this.#prefix, shape), params];
  }

  /** @param ids - of those that are new */
  async #saved(
    tx: Queryable,
    pending: readonly PendingMessage[],
    ids: readonly string[],
  ): Promise<readonly SavedMessage[]> {
    const keys = pending.flatMap(({ unique }) => unique?.key ?? []);
    const rows =
      ids.length < pending.length && keys.length > 0
        ? await tx.query(this.#sql.holders, [keys])
        : [];
    const holders = new Map(rows.map((row) => [row["key"], String(row["message_id"])]));
    return savedMessages(pending, ids, holders);
  }

  async cancel(id: string, tx?: Queryable): Promise<boolean> {
    const work = async (on: Queryable): Promise<boolean> => {
      const rows = await on.query(this.#sql.cancel, [id]);
      if (rows.length > 0)
        await this.#unpark(
          on,
          rows.map(({ key }) => key),
        );
      return rows.length > 0;
    };
    return await (tx === undefined ? this.#transaction(work) : work(this.#on(tx)));
  }

  async takeOnce(tx: Queryable, key: string, now: number, keep: number): Promise<boolean> {
    return await changed(this.#on(tx), this.#sql.takeOnce, [key, now, keep]);
  }

  async removeOnce(now: number, limit: number, signal?: AbortSignal): Promise<number> {
    return (await this.#query(this.#sql.removeOnce, [now, limit], signal)).length;
  }

  async notify(): Promise<void> {
    await this.#database.query(this.#sql.notify, this.#signal);
  }

  async pause(topic: string, now: number): Promise<boolean> {
    return (await this.#query(this.#sql.pause, [topic, now])).length > 0;
  }

  async resume(topic: string): Promise<boolean> {
    return (await this.#query(this.#sql.resume, [topic])).length > 0;
  }

  async pausedTopics(signal?: AbortSignal): Promise<readonly string[]> {
    const rows = await this.#query(this.#sql.pausedTopics, [], signal);
    return rows.map(({ topic }) => String(topic));
  }

  async claim(request: ClaimRequest, signal?: AbortSignal): Promise<Claimed> {
    const { shape, lists } = filterOf(request);
    const { relay, now, until, limit, maxBytes = null } = request;
    const text = this.#claims.claim(shape);
    const params = [relay, until, now, limit, maxBytes, ...lists];
    let rows = await this.#query(text, params, signal);
    if (this.order === "key" && rows.length < limit)
      for (let step = 0; step < PARK_STEPS; step++) {
        const [row] = await this.#query(this.#claims.park(shape), [now, ...lists], signal);
        if (rows.length > 0 || Number(row?.["parked"]) === 0) break;
        // All that it has read was behind others of their key.
        rows = await this.#query(text, params, signal);
      }
    const release = () => this.#query(this.#sql.releaseUnread, [relay, until]);
    if (rows.some((row) => row["is_disordered"] === true)) {
      await release();
      throw disorderIn(this.#table);
    }
    return await this.#read(rows, now, release);
  }

  async now(signal?: AbortSignal): Promise<number> {
    const [row] = await this.#query(this.#sql.now, [], signal);
    return Number(row?.["now"]);
  }

  async restriction(signal?: AbortSignal): Promise<string | undefined> {
    const [row] = await this.#query(this.#sql.restriction, [], signal);
    if (row === undefined) return undefined;
    return `row level security of ${this.#table} applies to the role ${row["role"]}, which sees only the messages that the policies allow: give it BYPASSRLS, or a policy FOR ALL USING (true)`;
  }

  async nextDue(signal?: AbortSignal, filter: ClaimFilter = {}): Promise<number | undefined> {
    const { shape, lists } = filterOf(filter);
    const [row] = await this.#query(this.#claims.nextDue(shape), lists, signal);
    // Only a relay asks for those without an expired claim. Others may have no right to write.
    if (row?.["has_parked"] === true && filter.hasExpired === false) await this.#heal(signal);
    const next = row?.["next_due"] ?? undefined;
    return next === undefined ? undefined : Number(next);
  }

  /** Checks some of the messages that are parked. Those it finds are seen by the next look. */
  async #heal(signal: AbortSignal | undefined): Promise<void> {
    if (this.order === "none") {
      await this.#query(this.#claims.unparkAll(), [], signal);
      return;
    }
    const [row] = await this.#query(this.#claims.heal(), [this.#healed], signal);
    this.#healed = Number(row?.["keys"]) < STEP ? "" : String(row?.["last"]);
  }

  async write(outcomes: readonly Outcome[], signal?: AbortSignal): Promise<readonly boolean[]> {
    const params = [
      outcomes.map(({ claim }) => claim.message.id),
      outcomes.map(({ claim }) => claim.number),
      outcomes.map(({ type }) => type),
      outcomes.map((outcome) => nowOf(outcome)),
      outcomes.map((outcome) =>
        outcome.type === "failed" ? (outcome.failure.dueAt ?? null) : null,
      ),
      outcomes.map((outcome) => (outcome.type === "failed" ? outcome.failure.error : null)),
    ];
    const ended = outcomes.filter(endsMessage).map(({ claim }) => claim.message.key);
    const rows = await this.#ending(ended, (on) => on.query(this.#sql.write, params), signal);
    const written = new Set(rows.map(({ id, number }) => `${id} ${number}`));
    return outcomes.map(({ claim }) => written.has(`${claim.message.id} ${claim.number}`));
  }

  async expired(now: number, limit: number, signal?: AbortSignal): Promise<Claimed> {
    return await this.#read(await this.#query(this.#sql.expired, [now, limit], signal), now);
  }

  async recover(
    claim: Claim,
    failure: Failure,
    fence: Fence,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { now, dueAt = null, error } = failure;
    return await this.#transaction(async (tx) => {
      if (!(await changed(tx, this.#sql.fence, [fence.name, fence.token])))
        throw new StaleFenceError(fence);
      const params = [claim.message.id, claim.number, now, dueAt, error];
      const isWritten = await changed(tx, this.#sql.recover, params);
      if (dueAt === null) await this.#unpark(tx, [claim.message.key]);
      return isWritten;
    }, signal);
  }

  async deadLetters({ topic, after, limit }: DeadLetterPage): Promise<readonly Message[]> {
    const params = [topic ?? null, after?.id ?? null, after?.updatedAt ?? null, limit];
    return (await this.#query(this.#sql.deadLetters, params)).map(deadLetterOf);
  }

  async replay(selection: DeadLetterSelection, now: number): Promise<number> {
    const params = [...selectionParams(selection), now];
    return (await this.#query(this.#sql.replay, params)).length;
  }

  async discard(selection: DeadLetterSelection): Promise<number> {
    return (await this.#query(this.#sql.discard, selectionParams(selection))).length;
  }

  async removeDelivered(before: number, limit: number, signal?: AbortSignal): Promise<number> {
    return (await this.#query(this.#sql.removeDelivered, [before, limit], signal)).length;
  }

  async find(id: string): Promise<Message | undefined> {
    const [row] = isUuid(id) ? await this.#query(this.#sql.find, [id]) : [];
    if (row === undefined) return undefined;
    const message = messageOf(row);
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
    return activityFrom(await this.#query(this.#sql.activity, [since], signal));
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    return countsOf(await this.#query(this.#sql.counts));
  }

  async #read(
    rows: readonly Row[],
    now: number,
    release?: () => Promise<unknown>,
  ): Promise<Claimed> {
    const deadLetter = (row: Row, problem: string) => {
      const params = [row["id"], row["claim_number"], now, problem];
      return this.#ending([row["key"]], (on) => on.query(this.#sql.deadLetter, params));
    };
    return await readClaimed(rows, deadLetter, release);
  }

  /** Runs a statement that ends messages of some keys: the next ones of these can be claimed then. */
  async #ending(
    keys: readonly unknown[],
    work: (on: Queryable) => Promise<readonly Row[]>,
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    if (this.order === "none" || keys.length === 0)
      return await work({ query: (text, params) => this.#query(text, params, signal) });
    return await this.#transaction(async (tx) => {
      const rows = await work(tx);
      await this.#unpark(tx, keys);
      return rows;
    }, signal);
  }

  async #unpark(tx: Queryable, keys: readonly unknown[]): Promise<void> {
    if (this.order === "key") await tx.query(this.#claims.unpark(), [keys]);
  }

  async #query(
    text: string,
    params: readonly unknown[] = [],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const database = this.#database;
    // At a higher level, relays that claim at once fail one another.
    if (this.#isReadCommitted === undefined && database.readCommitted !== undefined) {
      const [row] = await database.query(this.#sql.isolation, [], signal);
      this.#isReadCommitted = row?.["level"] === "read committed";
    }
    if (this.#isReadCommitted !== false)
      return await this.#on(database).query(text, params, signal);
    return await this.#transaction((tx) => tx.query(text, params), signal);
  }

  #transaction<Value>(
    work: (tx: Queryable) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const database = this.#database;
    const own = (tx: Queryable): Promise<Value> => work(this.#on(tx));
    if (database.readCommitted === undefined) return database.transaction(own, signal);
    return database.readCommitted(own, signal);
  }

  /** Its errors say what creates a table that is missing. */
  #on(tx: Queryable): Queryable {
    return onTables(tx, this.#prefix);
  }
}

function endsMessage(outcome: Outcome): boolean {
  return (
    outcome.type === "delivered" ||
    (outcome.type === "failed" && outcome.failure.dueAt === undefined)
  );
}

function disorderIn(table: string): Error {
  return new Error(
    `${table}: order "key" is broken: the sequence of the table has started again, as after logical replication or COPY. ` +
      `Run SELECT setval(pg_get_serial_sequence('${table}', 'sequence'), (SELECT max(sequence) FROM ${table})), and ` +
      `UPDATE ${table} SET sequence = DEFAULT for the messages saved since, in the order in which they were saved`,
  );
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
