import { type Clock, realClock } from "@holdfast/clock";
import {
  requireClock,
  requireFunction,
  requireHooks,
  requireMethods,
  requireOptions,
} from "@holdfast/clock/internal";
import type { Message, NewMessage } from "./message/message.ts";
import type { Statement } from "./store/database.ts";
import type { OutboxStore, SaveOptions } from "./store/outbox-store.ts";

/** Options for {@link Outbox}. */
export interface OutboxOptions<Tx extends object> {
  /** Where messages are kept. */
  readonly store: Pick<OutboxStore<Tx>, "save" | "statements">;

  /**
   * Runs a function in a transaction of the store's database, and commits.
   *
   * @defaultValue none: you bring the transactions
   */
  readonly transaction?: (<Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>) | undefined;

  /**
   * Receives the ids of messages as soon as their transaction has committed: `relay.saved`. It must not
   * throw.
   *
   * @defaultValue none: on PostgreSQL the commit wakes the relays of other processes, elsewhere messages are
   * sent when their first wait is over
   */
  readonly onCommitted?: ((ids: readonly string[]) => void) | undefined;

  /**
   * Says when messages are saved.
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
 * | after it | the message comes due by itself, one first wait after it was saved |
 *
 * @example
 * ```ts
 * import { Outbox } from "@holdfast/outbox";
 * import { MemoryStore } from "@holdfast/outbox/testing";
 *
 * const store = new MemoryStore();
 * const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
 * const order = { creator: "shop", businessModule: "orders", businessKey: "4711" };
 * const route = { exchange: "shop", queue: "paid", routingKey: "orders.paid" };
 * await outbox.transaction((tx) => outbox.save(tx, { ...order, route, content: { paid: 12.5 } }));
 * console.log(await store.backlog()); // => { pending: 1, failed: 0, dead: 0 }
 * ```
 */
export class Outbox<Tx extends object> {
  readonly #store: OutboxOptions<Tx>["store"];
  readonly #transaction: OutboxOptions<Tx>["transaction"];
  readonly #onCommitted: OutboxOptions<Tx>["onCommitted"];
  /** Without a relay in this process, those of others are to hear of a commit. */
  readonly #saving: SaveOptions;
  readonly #clock: Clock;
  /** The ids saved in transactions that have not committed. */
  readonly #saved = new WeakMap<object, string[]>();

  /** @throws TypeError that names the option */
  constructor(options: OutboxOptions<Tx>) {
    requireOptions("options", options);
    const { store, transaction, onCommitted, clock = realClock } = options;
    requireMethods("options.store", store, ["save"]);
    requireHooks("options", { transaction, onCommitted });
    requireClock("options.clock", clock);
    this.#store = store;
    this.#transaction = transaction;
    this.#onCommitted = onCommitted;
    this.#saving = { notify: onCommitted === undefined };
    this.#clock = clock;
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
    if (last !== undefined) this.committed(last);
    return value;
  }

  /**
   * Saves a message in a transaction: that of {@link Outbox.transaction}, or your own.
   *
   * @param tx - the transaction
   * @param message - the message
   * @throws RangeError or TypeError that names the field; the transaction continues
   */
  async save(tx: Tx, message: NewMessage): Promise<Message> {
    requireTransaction(tx);
    const saved = await this.#store.save(tx, message, this.#clock.now(), this.#saving);
    this.#remember(tx, saved.id);
    return saved;
  }

  /**
   * The statements that save a message, for a query layer with a `sql` tag. Run them in order, in your
   * transaction, as `sql(parts, ...params)`. PostgreSQL has one, MySQL two. An `id` that exists is refused by
   * the database only, which ends the transaction.
   *
   * @param tx - the object to call {@link Outbox.committed} with: the transaction of the query layer
   * @param message - the message
   * @throws RangeError or TypeError that names the field; TypeError if the store is not an SQL database
   */
  statements(tx: object, message: NewMessage): readonly Statement[] {
    requireTransaction(tx);
    if (this.#store.statements === undefined)
      throw new TypeError("options.store must be a SQL store to use statements()");
    const saved = this.#store.statements(message, this.#clock.now(), this.#saving);
    this.#remember(tx, saved.message.id);
    return saved.statements;
  }

  /**
   * Says that a transaction of your own has committed: its messages are sent at once. Never call it
   * earlier. Without the call they are sent when their first wait is over.
   *
   * @param tx - the object that {@link Outbox.save} got. A savepoint has one of its own: name both
   * @throws TypeError if it is none
   */
  committed(tx: object): void {
    requireTransaction(tx);
    const ids = this.#saved.get(tx);
    this.#saved.delete(tx);
    if (ids !== undefined) this.#onCommitted?.(ids);
  }

  #remember(tx: object, id: string): void {
    const ids = this.#saved.get(tx);
    if (ids === undefined) this.#saved.set(tx, [id]);
    else ids.push(id);
  }
}

/** The `sql` of postgres.js, which is its transaction, is a function. */
function requireTransaction(tx: unknown): void {
  if ((typeof tx !== "object" || tx === null) && typeof tx !== "function")
    throw new TypeError(`tx must be a transaction object, got ${String(tx)}`);
}
