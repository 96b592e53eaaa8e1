import { z } from "zod";
import type { Row } from "../database/database.ts";
import type { Message } from "../message/message.ts";
import type { BrokenMessage, Claim } from "./claim.ts";

/** The milliseconds since the epoch of a column. */
const millisecondsOf = (column: string): string =>
  `(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`;

/** What is selected from `outbox_message m LEFT JOIN outbox_content c`. */
export const COLUMNS: string = [
  "m.id, m.creator, m.editor, m.deleted, m.message_status, m.last_error",
  "m.current_retry_times, m.max_retry_times, m.init_backoff, m.backoff_factor",
  "m.queue_name, m.exchange_name, m.exchange_type, m.routing_key",
  "m.business_module, m.business_key, m.claimed_by, m.claim_number, c.content",
  ...["create_time", "edit_time", "next_schedule_time", "claimed_until"].map(millisecondsOf),
].join(", ");

const retryTimes = z.int().min(0);

/** JSON text, as the value that it stands for. */
const content = z.string("is missing").transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: `is no JSON: ${(error as Error).message}` });
    return z.NEVER;
  }
});

const messageRow = z.object({
  ...{ id: z.string(), creator: z.string(), editor: z.string(), deleted: z.boolean() },
  message_status: z.enum(["pending", "failed", "success", "dead"]),
  last_error: z.string().nullable(),
  ...{ current_retry_times: retryTimes, max_retry_times: retryTimes.min(1) },
  ...{ init_backoff: z.number().min(0), backoff_factor: z.number().min(1) },
  ...{ queue_name: z.string(), exchange_name: z.string() },
  ...{ exchange_type: z.string(), routing_key: z.string() },
  ...{ business_module: z.string(), business_key: z.string(), content },
  ...{ create_time: z.number(), edit_time: z.number(), next_schedule_time: z.number().nullable() },
});

const claimRow = messageRow.extend({
  ...{ claimed_by: z.string(), claim_number: z.int(), claimed_until: z.number() },
});

/** The message of a row, or what is wrong with the row. */
export function messageOf(row: Row): Message | BrokenMessage {
  const { data, error } = messageRow.safeParse(row);
  return error === undefined ? toMessage(data) : broken(row, error);
}

/** The claim of a row that has just been claimed, or what is wrong with the row. */
export function claimOf(row: Row): Claim | BrokenMessage {
  const { data, error } = claimRow.safeParse(row);
  if (error !== undefined) return broken(row, error);
  const { claimed_by: worker, claim_number: number, claimed_until: until } = data;
  return { message: toMessage(data), worker, number, until };
}

/** Whether it is what {@link messageOf} and {@link claimOf} give for a row that is no message. */
export function isBroken(value: Message | Claim | BrokenMessage): value is BrokenMessage {
  return "problem" in value;
}

function toMessage(row: z.infer<typeof messageRow>): Message {
  return {
    id: row.id,
    ...{ createTime: row.create_time, editTime: row.edit_time },
    ...{ creator: row.creator, editor: row.editor, deleted: row.deleted },
    ...{ businessModule: row.business_module, businessKey: row.business_key },
    route: {
      ...{ exchange: row.exchange_name, exchangeType: row.exchange_type },
      ...{ queue: row.queue_name, routingKey: row.routing_key },
    },
    content: row.content,
    status: row.message_status,
    ...{ currentRetryTimes: row.current_retry_times, maxRetryTimes: row.max_retry_times },
    nextScheduleTime: row.next_schedule_time ?? undefined,
    ...{ initBackoff: row.init_backoff, backoffFactor: row.backoff_factor },
    lastError: row.last_error ?? undefined,
  };
}

function broken(row: Row, { issues }: z.ZodError): BrokenMessage {
  const problem = issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return { id: String(row["id"]), problem };
}
