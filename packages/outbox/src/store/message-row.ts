import type { Message, MessageHeaders, MessageStatus } from "../message/message.ts";
import { MAX_DELAY } from "../message/schedule.ts";
import { withPayload } from "../message/stored-payload.ts";
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
  /** Faults of the content: another program wrote the row, or changed it. */
  readonly problems: string[] = [];
  /** Columns of another type than the table has: not the row is at fault, but a setting of the driver. */
  readonly unreadable: string[] = [];

  constructor(row: Row) {
    this.#row = row;
  }

  text(column: string): string {
    const value = this.#read(column, ["string"]);
    if (typeof value !== "string") this.#complain(column, value, "is not text");
    return value as string;
  }

  textOrNone(column: string): string | undefined {
    return this.#row[column] === null ? undefined : this.text(column);
  }

  number(column: string, least: number = Number.NEGATIVE_INFINITY): number {
    const value = this.#read(column, ["number", "bigint", "string"]);
    const number = value === "" || value === null ? Number.NaN : Number(value);
    if (!(Number.isFinite(number) && number >= least))
      this.#complain(column, value, `is not a number of at least ${least}`);
    return number;
  }

  numberOrNone(column: string): number | undefined {
    return this.#row[column] === null ? undefined : this.number(column);
  }

  status(column: string): MessageStatus {
    const value = this.text(column);
    if (!STATUSES.includes(value)) this.#complain(column, value, "is not a status");
    return value as MessageStatus;
  }

  /** A text that is JSON; undefined if it is not. */
  jsonText(column: string): string | undefined {
    const text = this.text(column);
    return typeof text === "string" && this.#parse(column, text) !== undefined ? text : undefined;
  }

  #parse(column: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      this.problems.push(`${column}: is not JSON: ${(error as Error).message}`);
      return undefined;
    }
  }

  headers(column: string): MessageHeaders {
    const text = this.text(column);
    const value = typeof text === "string" ? this.#parse(column, text) : undefined;
    const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isPlain && Object.values(value).every((each) => typeof each === "string"))
      return value as MessageHeaders;
    this.problems.push(`${column}: is not an object of texts`);
    return {};
  }

  /** A value. Some settings of a driver return numbers as texts or as BigInts; other types mean a mistake there. */
  #read(column: string, types: readonly string[]): unknown {
    const value = this.#row[column];
    if (value !== null && !types.includes(typeof value)) this.unreadable.push(column);
    return value;
  }

  #complain(column: string, value: unknown, problem: string): void {
    if (!this.unreadable.includes(column))
      this.problems.push(`${column}: ${value === null ? "is missing" : problem}`);
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

/** @throws Error if the row cannot be read */
function invalidOf(row: Row, { problems, unreadable }: Columns): InvalidRow | undefined {
  if (unreadable.length > 0)
    throw new Error(
      `columns ${unreadable.join(", ")} have values of the wrong type: remove type parsers or casts from the options of the driver`,
    );
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
  const message: Message = {
    id: columns.text("id"),
    topic: columns.text("topic"),
    key: columns.text("key"),
    headers: columns.headers("headers"),
    payload: undefined,
    priority: columns.number("priority"),
    status: columns.status("status"),
    createdAt: columns.number("created_at"),
    updatedAt: columns.number("updated_at"),
    dueAt: columns.numberOrNone("due_at"),
    failedAttempts: columns.number("failed_attempts", 0),
    expiredClaims: columns.number("expired_claims", 0),
    maxAttempts: columns.number("max_attempts", 1),
    expiresAt: columns.numberOrNone("expires_at"),
    backoff: {
      duration: columns.number("initial_delay", 0),
      factor: columns.number("factor", 1),
      cap: columns.numberOrNone("max_delay") ?? MAX_DELAY,
    },
    lastError: columns.textOrNone("last_error"),
  };
  const json = columns.jsonText("payload");
  return json === undefined ? message : withPayload(message, json);
}
