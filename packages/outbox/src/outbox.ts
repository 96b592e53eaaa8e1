import { type Clock, realClock } from "@holdfast/clock";
import {
  between,
  func,
  type Kinds,
  loopClock,
  methods,
  read,
  required,
  requireFunction,
} from "@holdfast/kit";
import { DeadLetters } from "./dead-letters.ts";
import type { MessageSchedule, NewMessage, SavedMessage } from "./message/message.ts";
import { NEW_MESSAGE } from "./message/pending-message.ts";
import { MAX_DELAY, MESSAGE_SCHEDULE } from "./message/schedule.ts";
import { requireStoredName, requireUuid } from "./message/stored-text.ts";
import type { Statement } from "./store/database.ts";
import type { OutboxStore } from "./store/outbox-store.ts";

export const OUTBOX_OPTIONS: Kinds<OutboxOptions<never>> = {
  store: required(methods("save")),
  transaction: func,
  onCommitted: func,
  keepHandled: between(1, MAX_DELAY),
  clock: loopClock,
  ...MESSAGE_SCHEDULE,
};

/** Options for {@link Outbox}. Its schedule is that of messages that name none. */
export interface OutboxOptions<Tx extends object> extends MessageSchedule {
  /** Where messages are kept. */
  readonly store: Pick<
    OutboxStore<Tx>,
    | "save"
    | "saveAll"
    | "statements"
    | "cancel"
    | "takeOnce"
    | "notify"
    | "deadLetters"
    | "replay"
    | "discard"
    | "now"
  >;

  /**
   * Runs a function in a transaction of the store's database, and commits.
   *
   * @defaultValue none: you bring the transactions
   */
  readonly transaction?: (<Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>) | undefined;

  /**
   * Called as soon as a transaction that saved messages has committed: `() => relay.wake()`. It must not
   * throw.
   *
   * @defaultValue the store notifies relays of other processes where it can: on PostgreSQL. Elsewhere they
   * find the messages within their `pollInterval`
   */
  readonly onCommitted?: (() => void) | undefined;

  /**
   * How long {@link Outbox.once} remembers a key, in milliseconds. From 1 to a hundred years.
   *
   * @defaultValue `2_592_000_000`, 30 days
   */
  readonly keepHandled?: number | undefined;

  /**
   * Says when messages are saved and replayed.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Saves messages in the transaction of the business change: afterwards either both are there or neither
 * is. Nothing is sent before the commit.
 *
 * | The process dies | Result |
 * | --- | --- |
 * | before the commit | there is no change and no message |
 * | after it | any relay finds the message within its `pollInterval` |
 *
 * @example
 * ```ts
 * import { Outbox } from "@holdfast/outbox";
 * import { MemoryStore } from "@holdfast/outbox/testing";
 *
 * const store = new MemoryStore();
 * const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
 * const message = { topic: "orders.paid", key: "order/4711", payload: { paid: 12.5 } };
 * await outbox.transaction((tx) => outbox.save(tx, message));
 * console.log(await store.backlog()); // => { pending: 1, retrying: 0, dead: 0 }
 * ```
 */
export class Outbox<Tx extends object> {
  /** The messages that failed for good: list, replay or discard them. */
  readonly deadLetters: DeadLetters;
  readonly #store: OutboxOptions<Tx>["store"];
  readonly #transaction: OutboxOptions<Tx>["transaction"];
  readonly #onCommitted: () => void;
  readonly #keepHandled: number;
  readonly #clock: Clock;
  readonly #schedule: MessageSchedule;
  /** The transactions that have saved messages and not committed. */
  readonly #saving = new WeakSet<object>();
  /** Commits that relays in other processes have not heard of. Those that meet a notification under way share the next. */
  #hasNews = false;
  #isNotifying = false;

  /** @throws TypeError that names the option */
  constructor(options: OutboxOptions<Tx>) {
    const given = read("options", options, "Outbox", OUTBOX_OPTIONS);
    const { store, transaction, onCommitted, keepHandled, clock = realClock } = given;
    this.#store = store;
    this.#transaction = transaction;
    this.#onCommitted = onCommitted ?? (() => void this.#notify());
    this.#keepHandled = keepHandled ?? 30 * 86_400_000;
    this.#clock = clock;
    this.#schedule = given;
    this.deadLetters = new DeadLetters({ store, clock, onReplay: () => this.#onCommitted() });
  }

  /**
   * Runs the business change and commits it, with all messages it saves.
   *
   * @param work - the change; may run again if a transaction that lost a race is repeated
   * @returns the value of `work`. If it rejects, the transaction was rolled back, with one exception: when
   * the connection broke during the commit the outcome is unknown, and the message is sent if it is there
   * @throws TypeError without the option `transaction`, or if `work` is not a function
   */
  async transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value> {
    requireFunction("work", work);
    if (this.#transaction === undefined)
      throw new TypeError(
        "options.transaction is missing: pass it, or save in your own transaction and call committed(tx)",
      );
    let last: Tx | undefined; // Of several, if a transaction that lost a race is run again.
    const value = await this.#transaction((tx) => {
      last = tx;
      return work(tx);
    });
    if (last !== undefined && this.#saving.delete(last)) this.#onCommitted();
    return value;
  }

  /**
   * Saves a message in a transaction: that of {@link Outbox.transaction}, or your own. A message that is there already, by
   * its `id` or its `unique.key`, is not saved again; `isNew` of the result says so, and the transaction continues.
   *
   * @param tx - the transaction
   * @param message - the message, or a list of them: they are saved in few statements, all or none
   * @returns what was saved; for a list, in its order
   * @throws RangeError or TypeError that names the field, before anything is saved; the transaction continues
   *
   * @example
   * ```ts
   * import { Outbox } from "@holdfast/outbox";
   * import { MemoryStore } from "@holdfast/outbox/testing";
   *
   * const store = new MemoryStore();
   * const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
   * const unique = { key: "reminder/4711", within: 3_600_000 };
   * const remind = () =>
   *   outbox.transaction((tx) => outbox.save(tx, { topic: "reminders", key: "order/4711", payload: {}, unique }));
   * console.log((await remind()).isNew, (await remind()).isNew); // => true false
   * ```
   */
  save(tx: Tx, message: NewMessage): Promise<SavedMessage>;
  save(tx: Tx, messages: readonly NewMessage[]): Promise<readonly SavedMessage[]>;
  async save(
    tx: Tx,
    given: NewMessage | readonly NewMessage[],
  ): Promise<SavedMessage | readonly SavedMessage[]> {
    requireTransaction(tx);
    const now = this.#clock.now();
    const saved = isList(given)
      ? await this.#store.saveAll(
          tx,
          given.map((message, i) => this.#scheduled(message, `messages[${i}]`)),
          now,
        )
      : await this.#store.save(tx, this.#scheduled(given, "message"), now);
    this.#saving.add(tx);
    return saved;
  }

  /**
   * Removes a message that no relay has claimed yet: one that is due later, for example. It is never sent then, and its
   * `unique.key` is free again.
   *
   * @param id - of the message
   * @param tx - the transaction in which to remove it, your own or that of {@link Outbox.transaction}: it is removed with
   * the commit, and until then no relay claims it. Without one it is removed at once
   * @returns true if it was removed; false if an attempt may have begun, if it was delivered, or if there is none
   * @throws RangeError or TypeError that names the argument
   *
   * @example
   * ```ts
   * import { Outbox } from "@holdfast/outbox";
   * import { MemoryStore } from "@holdfast/outbox/testing";
   *
   * const store = new MemoryStore();
   * const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
   * const message = { topic: "reminders", key: "order/4711", payload: {}, delay: 86_400_000 };
   * const { id } = await outbox.transaction((tx) => outbox.save(tx, message));
   * console.log(await outbox.cancel(id), await outbox.cancel(id)); // => true false
   * ```
   */
  async cancel(id: string, tx?: Tx): Promise<boolean> {
    const given = requireUuid("id", id);
    if (tx !== undefined) requireTransaction(tx);
    const isCancelled = await this.#store.cancel(given, tx);
    // The next message of its key may be due.
    if (isCancelled && tx === undefined) this.#onCommitted();
    else if (isCancelled && tx !== undefined) this.#saving.add(tx);
    return isCancelled;
  }

  /**
   * Runs the work of a consumer once for a key, in one transaction with the record of the key. If `work` rejects, both are
   * rolled back, and the next call runs it again. A second call while the first one runs waits for its end.
   *
   * It covers what `work` does in the transaction, and nothing outside: a request to another service is repeated after a
   * rollback. A key is forgotten after `keepHandled`.
   *
   * @param key - the id of the message, with the name of the consumer if several share the database. Not empty, at most 255
   * bytes of UTF-8
   * @param work - the effect; it gets the transaction
   * @param tx - your own transaction, which you commit, in place of one of {@link Outbox.transaction}
   * @returns true if `work` has run; false if it had run before
   * @throws RangeError or TypeError that names the argument
   *
   * @example
   * ```ts
   * import { Outbox } from "@holdfast/outbox";
   * import { MemoryStore } from "@holdfast/outbox/testing";
   *
   * const store = new MemoryStore();
   * const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
   * const handle = () => outbox.once("billing/6f1c7a52", async () => console.log("charged"));
   * console.log(await handle()); // => charged
   * // => true
   * console.log(await handle()); // => false
   * ```
   */
  async once(key: string, work: (tx: Tx) => Promise<unknown>, tx?: Tx): Promise<boolean> {
    requireStoredName("key", key);
    requireFunction("work", work);
    if (tx === undefined) return await this.transaction((own) => this.once(key, work, own));
    requireTransaction(tx);
    const isFirst = await this.#store.takeOnce(tx, key, this.#clock.now(), this.#keepHandled);
    if (isFirst) await work(tx);
    return isFirst;
  }

  /**
   * The statements that save a message, for a query layer with a `sql` tag. Run them in order, in your
   * transaction, as `sql(parts, ...params)`. A message that is there already is not saved again, and the transaction
   * continues.
   *
   * @param tx - the object to call {@link Outbox.committed} with: the transaction of the query layer
   * @param message - the message
   * @throws RangeError or TypeError that names the field; TypeError if the store is not an SQL database
   */
  statements(tx: object, message: NewMessage): readonly Statement[] {
    requireTransaction(tx);
    if (this.#store.statements === undefined)
      throw new TypeError("options.store must be a SQL store to use statements()");
    const { statements } = this.#store.statements(
      this.#scheduled(message, "message"),
      this.#clock.now(),
    );
    this.#saving.add(tx);
    return statements;
  }

  /**
   * Says that a transaction of your own has committed: its messages are sent at once. Never call it
   * earlier. Without the call they are sent within the `pollInterval` of a relay.
   *
   * @param tx - the object that {@link Outbox.save} got. A savepoint has one of its own: name both
   * @throws TypeError if it is none
   */
  committed(tx: object): void {
    requireTransaction(tx);
    if (this.#saving.delete(tx)) this.#onCommitted();
  }

  /** The message with the schedule of this outbox, where it has none. */
  #scheduled(message: NewMessage, path: string): NewMessage {
    const { maxAttempts, maxAge, backoff } = this.#schedule;
    if (maxAttempts === undefined && maxAge === undefined && backoff === undefined) return message;
    const given = read(path, message, "save", NEW_MESSAGE);
    return {
      ...given,
      maxAttempts: given.maxAttempts ?? maxAttempts,
      maxAge: given.maxAge ?? maxAge,
      backoff: given.backoff ?? backoff,
    };
  }

  /**
   * Notifies after the commit, on another connection, and once for all commits meanwhile: `NOTIFY` in the
   * transaction itself would make all transactions of the server commit one after another.
   */
  async #notify(): Promise<void> {
    this.#hasNews = true;
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    while (this.#hasNews) {
      this.#hasNews = false;
      // Nothing depends on it: relays look every `pollInterval`.
      await this.#store.notify?.().catch(() => {});
    }
    this.#isNotifying = false;
  }
}

function isList(given: NewMessage | readonly NewMessage[]): given is readonly NewMessage[] {
  return Array.isArray(given);
}

/** The `sql` of postgres.js, which is its transaction, is a function. */
function requireTransaction(tx: unknown): void {
  if ((typeof tx !== "object" || tx === null) && typeof tx !== "function")
    throw new TypeError(`tx must be a transaction object, got ${String(tx)}`);
}
