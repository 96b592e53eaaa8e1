import type { MessageStatus } from "../message/message.ts";
import type { Row } from "./database.ts";
import type { Backlog } from "./outbox-store.ts";

// Rows have a `status` and the number of its `messages`. A status without a row has none.

/** The number of messages of each status. */
export function countsOf(rows: readonly Row[]): Readonly<Record<MessageStatus, number>> {
  return { pending: 0, retrying: 0, delivered: 0, dead: 0, ...numbersOf(rows) };
}

/** The number of messages of each status that is not `"delivered"`. */
export function backlogOf(rows: readonly Row[]): Backlog {
  return { pending: 0, retrying: 0, dead: 0, ...numbersOf(rows) };
}

function numbersOf(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [row["status"], Number(row["messages"])]));
}
