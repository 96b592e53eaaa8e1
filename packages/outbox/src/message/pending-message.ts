import {
  requireAtLeast,
  requireBetween,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import type { Message, NewMessage, ResolvedRoute } from "./message.ts";
import { instantAfter, LONGEST_WAIT, type Schedule, waitAfter } from "./schedule.ts";
import {
  LONGEST_CONTENT,
  requireBytes,
  requireStoredName,
  requireStoredText,
  requireUuid,
} from "./stored-text.ts";

const MOST_RETRY_TIMES = 1_000_000;

/** A message that may be saved. */
export interface PendingMessage {
  readonly message: Message & { readonly nextScheduleTime: number };
  /** Its content as JSON. */
  readonly json: string;
}

/**
 * Checks a message and fills in the defaults: pending, and due when its first wait is over.
 *
 * @param now - when it is saved: milliseconds since the epoch
 * @throws RangeError or TypeError that names the field and its allowed values
 */
export function pendingMessage(given: NewMessage, now: number): PendingMessage {
  requireOptions("message", given);
  const { id, creator, businessModule, businessKey, route, content } = given;
  for (const [field, value] of Object.entries({ creator, businessModule, businessKey }))
    requireStoredName(`message.${field}`, value);
  const { maxRetryTimes, ...schedule } = scheduleOf(given);
  const json = jsonOf(content);
  const savedAt = Math.floor(now);
  const message: PendingMessage["message"] = {
    id: id === undefined ? globalThis.crypto.randomUUID() : requireUuid("message.id", id),
    ...{ createTime: savedAt, editTime: savedAt },
    ...{ creator, editor: creator, deleted: false, businessModule, businessKey },
    route: routeOf(route),
    content: JSON.parse(json),
    status: "pending",
    ...{ currentRetryTimes: 0, lostAttempts: 0, maxRetryTimes, ...schedule },
    nextScheduleTime: instantAfter(waitAfter(0, schedule), now),
    lastError: undefined,
  };
  return { message, json };
}

function routeOf(route: NewMessage["route"]): ResolvedRoute {
  requireOptions("message.route", route);
  const { exchange, exchangeType = "direct", queue, routingKey } = route;
  for (const [field, value] of Object.entries({ exchange, queue, routingKey }))
    requireStoredText(`message.route.${field}`, value);
  requireStoredName("message.route.exchangeType", exchangeType);
  return { exchange, exchangeType, queue, routingKey };
}

function scheduleOf(given: NewMessage): Schedule & Pick<Message, "maxRetryTimes"> {
  const { maxRetryTimes = 5, initBackoff = 10_000, backoffFactor = 2 } = given;
  requireWhole("message.maxRetryTimes", maxRetryTimes, 1);
  requireBetween("message.maxRetryTimes", maxRetryTimes, 1, MOST_RETRY_TIMES);
  requireBetween("message.initBackoff", initBackoff, 0, LONGEST_WAIT);
  requireAtLeast("message.backoffFactor", backoffFactor, 1);
  if (!(waitAfter(maxRetryTimes, { initBackoff, backoffFactor }) <= LONGEST_WAIT))
    throw new RangeError(
      "message: initBackoff × backoffFactor^maxRetryTimes must be at most a hundred years",
    );
  return { maxRetryTimes, initBackoff, backoffFactor };
}

function jsonOf(content: unknown): string {
  const json = stringified(content);
  if (json === undefined) throw new RangeError("message.content must be a JSON value");
  requireBytes("message.content", json, LONGEST_CONTENT);
  return json;
}

function stringified(content: unknown): string | undefined {
  try {
    return JSON.stringify(content);
  } catch (cause) {
    throw new RangeError("message.content must be a JSON value", { cause });
  }
}
