import { types } from "node:util";
import { between, isThenable, type Kinds, parsed, read, required, uuidFrom } from "@holdfast/kit";
import { requireHeaders } from "./headers.ts";
import type { Message, MessageUnique, NewMessage, SavedMessage } from "./message.ts";
import {
  backoffOf,
  LAST_INSTANT,
  MAX_DELAY,
  MESSAGE_SCHEDULE,
  messageUnique,
  priority,
} from "./schedule.ts";
import { MAX_HEADERS, MAX_PAYLOAD, requireBytes, storedName, uuid } from "./stored-text.ts";

export const NEW_MESSAGE: Kinds<NewMessage> = {
  id: uuid,
  topic: required(storedName),
  key: required(storedName),
  delay: between(0, MAX_DELAY),
  dueAt: between(0, LAST_INSTANT),
  priority,
  unique: messageUnique,
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
  /** The time from the save to its first attempt, by the clock of the database. */
  readonly delay: number;
  /** The first attempt is not before this instant; 0 if it may be at any. */
  readonly notBefore: number;
  /** Its key and the time that no other has it; undefined without. */
  readonly unique: MessageUnique | undefined;
}

/**
 * Checks a message and fills in the defaults: pending, and due at once.
 *
 * @param path - of the message, for errors
 * @param now - the instant of the save: milliseconds since the epoch
 * @throws RangeError or TypeError that names the field and its allowed values
 */
export function pendingMessage(
  newMessage: NewMessage,
  now: number,
  path: string = "message",
): PendingMessage {
  const given = read(path, newMessage, "save", NEW_MESSAGE);
  const { id, topic, key, headers = {}, priority: rank = 0, maxAttempts = 25 } = given;
  const headersJson = JSON.stringify(requireHeaders(`${path}.headers`, headers));
  requireBytes(`${path}.headers`, headersJson, MAX_HEADERS);
  const payload = jsonOf(`${path}.payload`, given.payload);
  const savedAt = Math.floor(now);
  const { delay, notBefore, dueAt, expiresAt } = timesOf(path, given, savedAt);
  const message: Message = {
    id: id === undefined ? uuidFrom(undefined) : id.toLowerCase(),
    topic,
    key,
    headers: JSON.parse(headersJson),
    payload: JSON.parse(payload),
    status: "pending",
    createdAt: savedAt,
    updatedAt: savedAt,
    priority: rank,
    dueAt,
    failedAttempts: 0,
    expiredClaims: 0,
    maxAttempts,
    expiresAt,
    backoff: backoffOf(`${path}.backoff`, given.backoff ?? {}),
    lastError: undefined,
  };
  const { unique } = given;
  return {
    message,
    payload,
    headers: headersJson,
    delay,
    notBefore,
    unique: unique && { key: unique.key, within: Math.min(unique.within, MAX_DELAY) },
  };
}

/** When a message is due, and from when on it is too old. */
function timesOf(path: string, given: NewMessage, savedAt: number) {
  const { delay = 0, dueAt: at = 0, maxAge = Number.POSITIVE_INFINITY } = given;
  if (given.delay !== undefined && given.dueAt !== undefined)
    throw new RangeError(`${path}.delay and ${path}.dueAt are both set: set one of them`);
  const dueAt = Math.ceil(Math.max(savedAt + delay, at));
  const expiresAt = maxAge < MAX_DELAY ? Math.ceil(dueAt + maxAge) : undefined;
  return { delay: Math.ceil(delay), notBefore: Math.ceil(at), dueAt, expiresAt };
}

/** Checks all messages before any is saved. */
export function pendingMessages(
  messages: readonly NewMessage[],
  now: number,
): readonly PendingMessage[] {
  const pending: PendingMessage[] = [];
  for (const [i, message] of messages.entries())
    pending.push(pendingMessage(message, now, `messages[${i}]`));
  return pending;
}

/** What a save has done. `holder` is the id of the message that has its unique key. */
export function savedMessage(
  { message }: PendingMessage,
  isNew: boolean,
  holder: string | undefined,
): SavedMessage {
  return { ...message, id: isNew ? message.id : (holder ?? message.id), isNew };
}

/**
 * What a save of several has done.
 *
 * @param ids - of those that were saved
 * @param holders - the ids of the messages that have unique keys
 */
export function savedMessages(
  pending: readonly PendingMessage[],
  ids: readonly string[],
  holders: ReadonlyMap<unknown, string>,
): readonly SavedMessage[] {
  const saved = new Set(ids);
  // Of an id that is there twice, the first one is new.
  return pending.map((each) =>
    savedMessage(each, saved.delete(each.message.id), holders.get(each.unique?.key)),
  );
}

function jsonOf(path: string, payload: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload, requireJson);
  } catch (cause) {
    if (cause instanceof NotJsonError) throw new RangeError(`${path} ${cause.message}`);
    throw new RangeError(`${path} must be a JSON value`, { cause });
  }
  if (json === undefined) throw new RangeError(`${path} must be a JSON value`);
  requireBytes(path, json, MAX_PAYLOAD);
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
  throw new NotJsonError(`must be a JSON value, ${where}`);
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
