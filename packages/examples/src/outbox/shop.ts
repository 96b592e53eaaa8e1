import type { OutboxService } from "@holdfast/outbox";
import type { Queryable } from "@holdfast/outbox/store";

/** Makes the table of the orders; `migrate` makes those of the outbox. */
export const CREATE_ORDERS =
  "CREATE TABLE IF NOT EXISTS orders (number integer PRIMARY KEY, total double precision NOT NULL)";

/** An order of the shop. */
export interface Order {
  readonly number: number;
  readonly total: number;
}

/** Keeps an order. Once this resolves, its message is sent, whatever happens to this process. */
export async function placeOrder(
  outbox: OutboxService<Queryable>,
  { number, total }: Order,
): Promise<void> {
  await outbox.transaction(async (tx) => {
    await tx.query("INSERT INTO orders (number, total) VALUES ($1, $2)", [number, total]);
    const payload = { number, total };
    await outbox.save(tx, { topic: "orders.placed", key: `order/${number}`, payload });
  });
}
