import { z } from "zod";
import { checked } from "../checked.ts";
import type { Message, NewMessage } from "./message.ts";
import { instantAfter, LONGEST_WAIT, waitAfter } from "./schedule.ts";

const DEFAULTS = { maxRetryTimes: 5, initBackoff: 10_000, backoffFactor: 2 };

/** A database keeps no text with this in it. */
const text = z.string().refine((value) => !value.includes("\0"), "must not contain NUL");
const name = text.min(1);

const newMessage = z.object({
  id: z.uuid().optional(),
  creator: name,
  businessModule: name,
  businessKey: name,
  route: z.object({
    exchange: text,
    exchangeType: name.optional(),
    queue: text,
    routingKey: text,
  }),
  content: z.unknown().refine(isJson, "must be something that JSON can hold"),
  maxRetryTimes: z.int().min(1).max(1_000_000).optional(),
  initBackoff: z.number().min(0).max(LONGEST_WAIT).optional(),
  backoffFactor: z.number().min(1).optional(),
});

/**
 * A message as it is saved first: pending, and left to its first attempt for as long as its first wait.
 *
 * @param now - when it is saved: milliseconds since the epoch
 * @throws RangeError that names what is wrong with the message
 */
export function pendingMessage(message: NewMessage, now: number): Message {
  const given = checked(newMessage, "message", message);
  const { maxRetryTimes = DEFAULTS.maxRetryTimes, initBackoff = DEFAULTS.initBackoff } = given;
  const { backoffFactor = DEFAULTS.backoffFactor, route } = given;
  const schedule = { initBackoff, backoffFactor };
  if (!(waitAfter(maxRetryTimes, schedule) <= LONGEST_WAIT))
    throw new RangeError("message: the last of its waits must not be longer than a hundred years");
  const savedAt = Math.floor(now);
  return {
    id: given.id?.toLowerCase() ?? globalThis.crypto.randomUUID(),
    ...{ createTime: savedAt, editTime: savedAt },
    ...{ creator: given.creator, editor: given.creator, deleted: false },
    ...{ businessModule: given.businessModule, businessKey: given.businessKey },
    route: { ...route, exchangeType: route.exchangeType ?? "direct" },
    content: given.content,
    status: "pending",
    ...{ currentRetryTimes: 0, maxRetryTimes, ...schedule },
    nextScheduleTime: instantAfter(waitAfter(0, schedule), now),
    lastError: undefined,
  };
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
