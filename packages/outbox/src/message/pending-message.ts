import { types } from "node:util";
import { isThenable, type Kinds, parsed, read, required, uuidFrom } from "@holdfast/kit";
import { requireHeaders } from "./headers.ts";
import type { Message, NewMessage } from "./message.ts";
import { backoffOf, MAX_DELAY, MESSAGE_SCHEDULE } from "./schedule.ts";
import { MAX_HEADERS, MAX_PAYLOAD, requireBytes, storedName, uuid } from "./stored-text.ts";

export const NEW_MESSAGE: Kinds<NewMessage> = {
  id: uuid,
  topic: required(storedName),
  key: required(storedName),
  headers: parsed("headers"),
  payload: required(parsed("payload")),
  ...MESSAGE_SCHEDULE,
};

/** A message that may be saved. */
export interface PendingMessage {
  readonly message: Message;
  /** Its payload as JSON. */
  readonly payload: string;
  /** Its headers as JSON. */
  readonly headers: string;
}

/**
 * Checks a message and fills in the defaults: pending, and due at once.
 *
 * @param now - the instant of the save: milliseconds since the epoch
 * @throws RangeError or TypeError that names the field and its allowed values
 */
export function pendingMessage(newMessage: NewMessage, now: number): PendingMessage {
  const given = read("message", newMessage, "save", NEW_MESSAGE);
  const { id, topic, key, headers = {} } = given;
  const headersJson = JSON.stringify(requireHeaders("message.headers", headers));
  requireBytes("message.headers", headersJson, MAX_HEADERS);
  const { maxAttempts = 25, maxAge = Number.POSITIVE_INFINITY } = given;
  const payload = jsonOf(given.payload);
  const savedAt = Math.floor(now);
  const message: Message = {
    id: id === undefined ? uuidFrom(undefined) : id.toLowerCase(),
    topic,
    key,
    headers: JSON.parse(headersJson),
    payload: JSON.parse(payload),
    status: "pending",
    createdAt: savedAt,
    updatedAt: savedAt,
    dueAt: savedAt,
    failedAttempts: 0,
    expiredClaims: 0,
    maxAttempts,
    expiresAt: maxAge < MAX_DELAY ? Math.ceil(savedAt + maxAge) : undefined,
    backoff: backoffOf("message.backoff", given.backoff ?? {}),
    lastError: undefined,
  };
  return { message, payload, headers: headersJson };
}

function jsonOf(payload: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload, requireJson);
  } catch (cause) {
    if (cause instanceof NotJsonError) throw new RangeError(cause.message);
    throw new RangeError("message.payload must be a JSON value", { cause });
  }
  if (json === undefined) throw new RangeError("message.payload must be a JSON value");
  requireBytes("message.payload", json, MAX_PAYLOAD);
  return json;
}

/** A value that `JSON.stringify` would turn into something else without a word. */
class NotJsonError extends Error {}

function requireJson(this: unknown, key: string, value: unknown): unknown {
  const given = (this as Readonly<Record<string, unknown>>)[key];
  const got = lossOf(given, value) ?? (Array.isArray(this) ? lossInArray(value) : undefined);
  if (got === undefined) return value;
  const where =
    key === "" ? `got ${got}` : `its field ${JSON.stringify(key.slice(0, 64))} is ${got}`;
  throw new NotJsonError(`message.payload must be a JSON value, ${where}`);
}

/** Names a value that JSON has no form for: it would become null or `{}`. */
function lossOf(given: unknown, value: unknown): string | undefined {
  if (types.isDate(given) && Number.isNaN(given.valueOf())) return "an invalid Date";
  if (types.isBoxedPrimitive(value)) return lossOf(given, value.valueOf());
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (isThenable(value)) return "a Promise: await it";
  return typeof value === "object" && value !== null ? lossOfObject(value) : undefined;
}

/** A Map, a Set or an Error: its content is not in fields, or not all of it. */
function lossOfObject(value: object): string | undefined {
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const hasFields = /^(Object|Array)$/.test(tag) || Object.keys(value).length > 0;
  return tag === "Error" || !hasFields ? `a value of type ${tag}` : undefined;
}

/** Names a value that is left out of an object, and would become null in an array. */
function lossInArray(value: unknown): string | undefined {
  return /^(undefined|function|symbol)$/.test(typeof value) ? typeof value : undefined;
}
