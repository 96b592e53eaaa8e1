import type { NewMessage } from "../message/message.ts";

/** The business change of this program: a table of orders. */
export const CREATE_ORDERS =
  "CREATE TABLE IF NOT EXISTS demo_order (number integer PRIMARY KEY, message_id uuid NOT NULL)";

export const INSERT_ORDER =
  "INSERT INTO demo_order (number, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING number";

/** Each of these orders is taken back after its message was saved, in the same transaction. */
const TAKEN_BACK_EVERY = 50;

export function isTakenBack(order: number): boolean {
  return order % TAKEN_BACK_EVERY === TAKEN_BACK_EVERY - 1;
}

/** How long a message of this program waits after its first failure, and how often it may fail. */
export const SCHEDULE = { initBackoff: 250, backoffFactor: 2, maxRetryTimes: 8 } as const;

/** The message that an order causes. */
export function messageOf(order: number, id: string): NewMessage {
  return {
    id,
    creator: "demo",
    businessModule: "orders",
    businessKey: `${order}`,
    route: { exchange: "orders", queue: "orders", routingKey: "placed" },
    content: { order },
    ...SCHEDULE,
  };
}
