import type { NewMessage } from "@holdfast/outbox";

/** Each of these orders is taken back after its message was saved, in the same transaction. */
const TAKEN_BACK_EVERY = 50;

export function isTakenBack(order: number): boolean {
  return order % TAKEN_BACK_EVERY === TAKEN_BACK_EVERY - 1;
}

/** The waits of this program's messages: short, so that even one that is given up is so in seconds. */
export const SCHEDULE = { initialDelay: 150, factor: 1.5, maxAttempts: 10 } as const;

const TOPIC = "orders.placed";

/** The header in which a worker names itself to a webhook. */
export const SENDER = "x-sender";

/** The message that an order causes. */
export function messageOf(order: number, id: string): NewMessage {
  return {
    id,
    topic: TOPIC,
    key: `order/${order}`,
    payload: { order },
    ...SCHEDULE,
  };
}
