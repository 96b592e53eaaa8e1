import type { NewMessage } from "@holdfast/outbox";

/** A UUID that is easy to read in a report. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

/** A message to save. */
export function sample(number: number, facts: Partial<NewMessage> = {}): NewMessage {
  return {
    id: idOf(number),
    topic: "orders.paid",
    key: `order-${number}`,
    payload: { order: number },
    maxAttempts: 5,
    ...facts,
  };
}

/** The number of an id that {@link idOf} has made. */
export function numberOf(id: string): number {
  return Number(id.slice(-12));
}
