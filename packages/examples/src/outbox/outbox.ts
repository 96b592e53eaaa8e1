import { type Clock, realClock } from "@holdfast/clock";
import type { Message, NewMessage } from "./message/message.ts";
import type { OutboxStore } from "./store/outbox-store.ts";

/** How an {@link Outbox} behaves. */
export interface OutboxOptions<Tx extends object> {
  readonly store: OutboxStore<Tx>;

  /** Runs a function in a transaction of the store's database, and commits. */
  readonly transaction: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;

  /**
   * Is told of messages right after their transaction has committed: `relay.saved`. It must not throw.
   *
   * @defaultValue none: messages are sent when their first wait is over
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
 * Saves messages in the transaction of the business change: either both are there afterwards or
 * neither is. Nothing is sent before the commit.
 *
 * | The process dies | Then |
 * | --- | --- |
 * | before the commit | there is no change and no message |
 * | after it | the message comes due by itself, one first wait after it was saved |
 */
export class Outbox<Tx extends object> {
  readonly #store: OutboxStore<Tx>;
  readonly #transaction: OutboxOptions<Tx>["transaction"];
  readonly #onCommitted: (ids: readonly string[]) => void;
  readonly #clock: Clock;
  /** What was saved in transactions that have not committed. */
  readonly #saved = new WeakMap<Tx, string[]>();

  constructor(options: OutboxOptions<Tx>) {
    const { store, transaction, onCommitted = () => {}, clock = realClock } = options;
    this.#store = store;
    this.#transaction = transaction;
    this.#onCommitted = onCommitted;
    this.#clock = clock;
  }

  /**
   * Runs the business change and commits it, with all that it saves.
   *
   * @returns what `work` returned. If it rejects, the transaction was rolled back, but for one case:
   * when the connection broke in the moment of the commit, nobody knows, and the message is sent if
   * it is there
   */
  async transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value> {
    let last: Tx | undefined; // Of several, if a transaction that lost a race is run again.
    const value = await this.#transaction((tx) => {
      last = tx;
      return work(tx);
    });
    if (last !== undefined) this.committed(last);
    return value;
  }

  /**
   * Saves a message in a transaction: that of {@link Outbox.transaction}, or one of your own.
   *
   * @throws RangeError that names what is wrong with the message
   */
  async save(tx: Tx, message: NewMessage): Promise<Message> {
    const saved = await this.#store.save(tx, message, this.#clock.now());
    const ids = this.#saved.get(tx);
    if (ids === undefined) this.#saved.set(tx, [saved.id]);
    else ids.push(saved.id);
    return saved;
  }

  /**
   * A transaction of your own has committed: what was saved in it may be sent at once. Never call it
   * before; without the call, messages are sent when their first wait is over.
   */
  committed(tx: Tx): void {
    const ids = this.#saved.get(tx);
    this.#saved.delete(tx);
    if (ids !== undefined) this.#onCommitted(ids);
  }
}
