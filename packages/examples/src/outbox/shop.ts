import { type Clock, realClock } from "@holdfast/clock";
import { type Logger, Manager, type ResourceLock } from "@holdfast/controller";
import {
  type Database,
  Outbox,
  type OutboxEvent,
  type OutboxStore,
  type Publisher,
  type Queryable,
  Recovery,
  Relay,
  Retention,
} from "@holdfast/outbox";
import type { Random } from "@holdfast/wait";

/** What a shop needs. */
export interface ShopOptions {
  readonly database: Pick<Database, "transaction">;
  readonly store: OutboxStore<Queryable>;
  /** Elects the process that looks for messages of dead relays. */
  readonly lock: ResourceLock;
  readonly publisher: Publisher;
  /** Unique among all processes, and new at each start. */
  readonly name: string;
  readonly onEvent?: ((event: OutboxEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly logger?: Logger | undefined;
}

/** A service that keeps orders, and reports each to others. */
export interface Shop {
  /** Keeps an order. Once this resolves, its message is sent, whatever happens to this process. */
  placeOrder(number: number, total: number): Promise<void>;
  /** Sends messages until the signal aborts, then ends those in flight. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the table of the orders; `migrate` makes those of the outbox. */
export const CREATE_ORDERS =
  "CREATE TABLE IF NOT EXISTS orders (number integer PRIMARY KEY, total double precision NOT NULL)";

/** One process of the shop. Run two or more: each sends messages, and takes over those of the others. */
export function openShop(options: ShopOptions): Shop {
  const { database, store, lock, publisher, name, onEvent } = options;
  const { clock = realClock, random, logger } = options;
  const common = { store, onEvent, clock, random, logger };
  const relay = new Relay({ ...common, name, publisher });
  const recovery = new Recovery({ ...common, name: `${name}/recovery`, lock });
  const retention = new Retention({
    ...common,
    name: `${name}/retention`,
    lock,
    olderThan: 7 * 86_400_000,
  });
  const outbox = new Outbox({
    store,
    transaction: (work) => database.transaction(work),
    onCommitted: () => relay.wake(),
    clock,
  });
  return {
    placeOrder: (number, total) =>
      outbox.transaction(async (tx) => {
        await tx.query("INSERT INTO orders (number, total) VALUES ($1, $2)", [number, total]);
        const payload = { number, total };
        await outbox.save(tx, { topic: "orders.placed", key: `order/${number}`, payload });
      }),
    run: (signal) => {
      const manager = new Manager({ clock, logger });
      for (const part of [relay, recovery, retention]) manager.add(part);
      return manager.run(signal);
    },
  };
}
