import { randomUUID } from "node:crypto";
import type { Message } from "../../src/outbox/message/message.ts";

/** A message as a relay hands it over; the id is another one each time. */
export function sampleMessage(changes: Partial<Message> = {}): Message {
  return {
    id: randomUUID(),
    createTime: Date.UTC(2026, 10, 21),
    editTime: Date.UTC(2026, 10, 21),
    creator: "test",
    businessModule: "orders",
    businessKey: "42",
    route: { exchange: "shop", queue: "orders", routingKey: "orders.created" },
    content: { order: 42, total: "12.50 €" },
    status: "pending",
    currentRetryTimes: 0,
    maxRetryTimes: 5,
    nextScheduleTime: Date.UTC(2026, 10, 21, 0, 0, 10),
    initBackoff: 10_000,
    backoffFactor: 2,
    lastError: undefined,
    ...changes,
  };
}
