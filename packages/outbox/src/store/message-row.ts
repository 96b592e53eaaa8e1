import type { Message, MessageStatus } from "../message/message.ts";
import type { BrokenMessage, Claim } from "./claim.ts";
import type { Row } from "./database.ts";

const STATUSES: readonly unknown[] = [
  "pending",
  "failed",
  "success",
  "dead",
] satisfies MessageStatus[];

/** Reads the columns of one row, and collects their faults. */
class Columns {
  readonly #row: Row;
  readonly problems: string[] = [];

  constructor(row: Row) {
    this.#row = row;
  }

  text(column: string): string {
    return this.#read<string>(column, "not text", (value) => typeof value === "string");
  }

  textOrNone(column: string): string | undefined {
    return this.#row[column] === null ? undefined : this.text(column);
  }

  boolean(column: string): boolean {
    return this.#read<boolean>(
      column,
      "neither true nor false",
      (value) => typeof value === "boolean",
    );
  }

  number(column: string, least: number = Number.NEGATIVE_INFINITY): number {
    const isAllowed = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= least;
    return this.#read<number>(column, `not a number of at least ${least}`, isAllowed);
  }

  instantOrNone(column: string): number | undefined {
    return this.#row[column] === null ? undefined : this.number(column);
  }

  status(column: string): MessageStatus {
    return this.#read<MessageStatus>(column, "not a status", (value) => STATUSES.includes(value));
  }

  json(column: string): unknown {
    if (this.#row[column] === null) return void this.problems.push(`${column}: is missing`);
    try {
      return JSON.parse(this.text(column));
    } catch (error) {
      this.problems.push(`${column}: is not JSON: ${(error as Error).message}`);
      return undefined;
    }
  }

  #read<Value>(column: string, problem: string, isAllowed: (value: unknown) => boolean): Value {
    const value = this.#row[column];
    if (!isAllowed(value)) this.problems.push(`${column}: is ${problem}`);
    return value as Value;
  }
}

/** The message of a row, or the reason why it is none. */
export function messageOf(row: Row): Message | BrokenMessage {
  const columns = new Columns(row);
  const message = readMessage(columns);
  return brokenOf(row, columns) ?? message;
}

/** The claim of a row that was just claimed, or the reason why it is none. */
export function claimOf(row: Row): Claim | BrokenMessage {
  const columns = new Columns(row);
  const claim = {
    message: readMessage(columns),
    worker: columns.text("claimed_by"),
    number: columns.number("claim_number", 0),
    until: columns.number("claimed_until"),
  };
  return brokenOf(row, columns) ?? claim;
}

/** Whether {@link messageOf} or {@link claimOf} gave it for a row that is not a message. */
export function isBroken(value: Message | Claim | BrokenMessage): value is BrokenMessage {
  return "problem" in value;
}

function brokenOf(row: Row, { problems }: Columns): BrokenMessage | undefined {
  if (problems.length === 0) return undefined;
  return { id: String(row["id"]), problem: problems.join("; ") };
}

function readMessage(columns: Columns): Message {
  return {
    id: columns.text("id"),
    createTime: columns.number("create_time"),
    editTime: columns.number("edit_time"),
    creator: columns.text("creator"),
    editor: columns.text("editor"),
    deleted: columns.boolean("deleted"),
    businessModule: columns.text("business_module"),
    businessKey: columns.text("business_key"),
    route: {
      exchange: columns.text("exchange_name"),
      exchangeType: columns.text("exchange_type"),
      queue: columns.text("queue_name"),
      routingKey: columns.text("routing_key"),
    },
    content: columns.json("content"),
    status: columns.status("message_status"),
    currentRetryTimes: columns.number("current_retry_times", 0),
    lostAttempts: columns.number("lost_attempts", 0),
    maxRetryTimes: columns.number("max_retry_times", 1),
    nextScheduleTime: columns.instantOrNone("next_schedule_time"),
    initBackoff: columns.number("init_backoff", 0),
    backoffFactor: columns.number("backoff_factor", 1),
    lastError: columns.textOrNone("last_error"),
  };
}
