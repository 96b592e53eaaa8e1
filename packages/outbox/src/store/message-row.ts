import type { Message, MessageHeaders, MessageStatus } from "../message/message.ts";
import type { Claim, InvalidRow } from "./claim.ts";
import type { Row } from "./database.ts";

const STATUSES: readonly unknown[] = [
  "pending",
  "retrying",
  "delivered",
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

  headers(column: string): MessageHeaders {
    const value = this.json(column);
    const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isPlain && Object.values(value).every((each) => typeof each === "string"))
      return value as MessageHeaders;
    this.problems.push(`${column}: is not an object of texts`);
    return {};
  }

  #read<Value>(column: string, problem: string, isAllowed: (value: unknown) => boolean): Value {
    const value = this.#row[column];
    if (!isAllowed(value)) this.problems.push(`${column}: is ${problem}`);
    return value as Value;
  }
}

/** The message of a row, or the reason why it is none. */
export function messageOf(row: Row): Message | InvalidRow {
  const columns = new Columns(row);
  const message = readMessage(columns);
  return invalidOf(row, columns) ?? message;
}

/** The claim of a row that was just claimed, or the reason why it is none. */
export function claimOf(row: Row): Claim | InvalidRow {
  const columns = new Columns(row);
  const claim = {
    message: readMessage(columns),
    relay: columns.text("claimed_by"),
    number: columns.number("claim_number", 0),
    until: columns.number("claimed_until"),
  };
  return invalidOf(row, columns) ?? claim;
}

/** Whether {@link messageOf} or {@link claimOf} gave it for a row that is not a message. */
export function isInvalid(value: Message | Claim | InvalidRow): value is InvalidRow {
  return "problem" in value;
}

function invalidOf(row: Row, { problems }: Columns): InvalidRow | undefined {
  if (problems.length === 0) return undefined;
  return { id: String(row["id"]), problem: problems.join("; ") };
}

/**
 * A dead letter as far as its row can be read: one that is not a valid message is dead for that reason, and
 * `lastError` names it.
 */
export function deadLetterOf(row: Row): Message {
  return readMessage(new Columns(row));
}

function readMessage(columns: Columns): Message {
  return {
    id: columns.text("id"),
    topic: columns.text("topic"),
    key: columns.text("key"),
    headers: columns.headers("headers"),
    payload: columns.json("payload"),
    status: columns.status("status"),
    createdAt: columns.number("created_at"),
    updatedAt: columns.number("updated_at"),
    dueAt: columns.instantOrNone("due_at"),
    failedAttempts: columns.number("failed_attempts", 0),
    expiredClaims: columns.number("expired_claims", 0),
    maxAttempts: columns.number("max_attempts", 1),
    initialDelay: columns.number("initial_delay", 0),
    factor: columns.number("factor", 1),
    lastError: columns.textOrNone("last_error"),
  };
}
