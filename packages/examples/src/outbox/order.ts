import type { NewMessage } from "@holdfast/outbox";

/** Each of these orders is taken back after its message was saved, in the same transaction. */
const TAKEN_BACK_EVERY = 50;

export function isTakenBack(order: number): boolean {
  return order % TAKEN_BACK_EVERY === TAKEN_BACK_EVERY - 1;
}

/** The waits of this program's messages: short, so that even one that is given up is so in seconds. */
export const SCHEDULE = { initBackoff: 100, backoffFactor: 1.5, maxRetryTimes: 10 } as const;

export const ROUTE = { exchange: "demo", queue: "demo-orders", routingKey: "placed" } as const;

/** The header in which a worker names itself to a webhook. */
export const SENDER = "x-sender";

/** The message that an order causes. */
export function messageOf(order: number, id: string): NewMessage {
  return {
    id,
    creator: "demo",
    businessModule: "orders",
    businessKey: `${order}`,
    route: ROUTE,
    content: { order },
    ...SCHEDULE,
  };
}
