import {
  type ChangeDeadLettersOptions,
  type DeadLetters,
  PORTION,
  pagesOf,
} from "../dead-letters.ts";
import type { Message } from "../message/message.ts";
import { storedPayloadOf } from "../message/stored-payload.ts";
import { requireStoredName, requireUuid } from "../message/stored-text.ts";
import { Outbox } from "../outbox.ts";
import type { DeadLetterSelection } from "../store/outbox-store.ts";
import { type Command, connected, type Given, type Io, read, wholeNumber } from "./command.ts";
import type { Connection } from "./connect.ts";
import { instantText, jsonLine, messageJson, safeText, tableText } from "./text.ts";

/** The longest part of an error that a list shows, in characters. */
const SHORT = 100;
/** The longest text that `show` prints, in characters. */
const LONG = 4_000;

function deadLettersOf(
  { store }: Connection,
  { clock }: Pick<Io, "clock">,
  onCommitted: () => void = () => {},
): DeadLetters {
  return new Outbox({ store, onCommitted, clock }).deadLetters;
}

function limitOf(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : wholeNumber("--limit", text);
}

// ── Reading ──

const HEAD = ["ID", "DIED", "TOPIC", "KEY", "ATTEMPTS", "ERROR"];

function rowOf(message: Message): string[] {
  const { id, updatedAt, topic, key, failedAttempts, maxAttempts, lastError = "" } = message;
  const attempts = `${failedAttempts}/${maxAttempts}`;
  const error = safeText(lastError, SHORT);
  return [safeText(id), instantText(updatedAt), safeText(topic), safeText(key), attempts, error];
}

/** `dead list` */
const list: Command = async (args, io) => {
  const { values } = read(args, { topic: { type: "string" }, limit: { type: "string" } });
  const { topic } = values;
  if (topic !== undefined) requireStoredName("--topic", topic);
  const limit = limitOf(values.limit, PORTION);
  await using connection = await connected(io, values);
  const deadLetters = deadLettersOf(connection, io);
  let count = 0;
  let last: Message | undefined;
  for await (const page of pagesOf(connection.store, { topic, limit, portion: PORTION })) {
    if (values.json) for (const message of page) io.print(messageJson(message));
    else io.print(tableText([...(count === 0 ? [HEAD] : []), ...page.map(rowOf)]));
    count += page.length;
    last = page.at(-1);
  }
  if (count === 0) io.note("no dead letters");
  else if (count === limit && (await deadLetters.list({ topic, after: last, limit: 1 })).length > 0)
    io.note(`the first ${count}; there are more, see --limit`);
  return 0;
};

/** `dead show ID` */
const show: Command = async (args, io) => {
  const { values, positionals } = read(args, {}, true);
  const [given, ...rest] = positionals;
  if (given === undefined || rest.length > 0)
    throw new RangeError("dead show needs one ID; see --help");
  const id = requireUuid("ID", given);
  await using connection = await connected(io, values);
  const message = await find(connection, id);
  if (message?.status !== "dead") {
    const state = message === undefined ? "is no message" : `is ${message.status}`;
    io.note(`${id} ${state}, not a dead letter`);
    return 1;
  }
  io.print(values.json ? messageJson(message) : detailsOf(message));
  return 0;
};

/** A row that is not a valid message is found among the dead letters only. */
async function find(connection: Connection, id: string): Promise<Message | undefined> {
  const message = await connection.store.find(id);
  if (message !== undefined) return message;
  const all = { topic: undefined, limit: Number.POSITIVE_INFINITY, portion: PORTION };
  for await (const page of pagesOf(connection.store, all)) {
    const found = page.find((each) => each.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function detailsOf(message: Message): string {
  const { id, topic, key, headers, createdAt, updatedAt, expiredClaims, lastError } = message;
  const payload = storedPayloadOf(message) ?? JSON.stringify(message.payload) ?? "not JSON";
  const cut = payload.length > LONG ? ` (${payload.length} characters; --json prints all)` : "";
  return tableText([
    ["id", safeText(id)],
    ["topic", safeText(topic)],
    ["key", safeText(key)],
    ["saved", instantText(createdAt)],
    ["died", instantText(updatedAt)],
    ["attempts", `${message.failedAttempts} of ${message.maxAttempts}`],
    ["expired claims", String(expiredClaims)],
    ["headers", safeText(JSON.stringify(headers), LONG)],
    ["error", safeText(lastError ?? "none", LONG)],
    ["payload", `${safeText(payload, LONG)}${cut}`],
  ]);
}

// ── Changing ──

const SELECTION = {
  all: { type: "boolean" },
  topic: { type: "string" },
  limit: { type: "string" },
  portion: { type: "string" },
} as const;

/** The dead letters to change, and how. */
type Selected = readonly [DeadLetterSelection, ChangeDeadLettersOptions];

/** Exactly one of ids, `--topic` and `--all`: to change everything by a forgotten argument would be too easy. */
function selectionOf({
  values: { all = false, topic, limit, portion },
  positionals,
}: Given<{
  readonly all?: boolean;
  readonly topic?: string;
  readonly limit?: string;
  readonly portion?: string;
}>): Selected {
  const ids = [...new Set(positionals.map((id) => requireUuid("ID", id)))];
  if (Number(ids.length > 0) + Number(topic !== undefined) + Number(all) !== 1)
    throw new RangeError("give one of ID..., --topic TOPIC and --all; see --help");
  if (ids.length > 0) {
    if (limit !== undefined || portion !== undefined)
      throw new RangeError("--limit and --portion go with --topic and --all");
    return [{ ids }, {}];
  }
  if (topic !== undefined) requireStoredName("--topic", topic);
  const options = {
    limit: limitOf(limit, Number.POSITIVE_INFINITY),
    portion: portion === undefined ? PORTION : wholeNumber("--portion", portion, { most: 10_000 }),
  };
  return [topic === undefined ? "all" : { topic }, options];
}

/** The number of letters that were named; undefined if none were. */
function namedIn(selection: DeadLetterSelection): number | undefined {
  return selection !== "all" && "ids" in selection ? selection.ids.length : undefined;
}

function conclude(io: Io, [selection]: Selected, count: number): 0 | 1 {
  const named = namedIn(selection) ?? count;
  if (count === named) return 0;
  io.note(`${named - count} of the ${named} are no dead letters`);
  return 1;
}

/** `dead replay ID...`, `--topic` or `--all` */
const replay: Command = async (args, io) => {
  const given = read(args, SELECTION, true);
  const selected = selectionOf(given);
  await using connection = await connected(io, given.values);
  let notified: Promise<void> | undefined;
  const notify = (): void => {
    // Relays look by themselves, too.
    notified = connection.store.notify?.().catch(() => {});
  };
  const count = await deadLettersOf(connection, io, notify).replay(...selected);
  await notified; // The connection closes afterwards.
  io.print(given.values.json ? jsonLine({ replayed: count }) : `replayed ${count}\n`);
  return conclude(io, selected, count);
};

/** `dead discard ID...`, `--topic` or `--all` */
const discard: Command = async (args, io) => {
  const given = read(args, { ...SELECTION, yes: { type: "boolean" } }, true);
  const selected = selectionOf(given);
  const { yes = false, json } = given.values;
  if (!yes && io.confirm === undefined)
    throw new RangeError("dead discard needs --yes without a terminal");
  await using connection = await connected(io, given.values);
  if (!yes && !(await io.confirm?.(`Remove ${wordsOf(selected)} for good?`))) {
    io.note("nothing was discarded");
    return 1;
  }
  const count = await deadLettersOf(connection, io).discard(...selected);
  io.print(json ? jsonLine({ discarded: count }) : `discarded ${count}\n`);
  return conclude(io, selected, count);
};

function wordsOf([selection, { limit = Number.POSITIVE_INFINITY }]: Selected): string {
  const named = namedIn(selection);
  if (named !== undefined) return `${named} dead letters`;
  const which = Number.isFinite(limit) ? `the first ${limit}` : "all";
  const topic = selection !== "all" && "topic" in selection ? selection.topic : undefined;
  return `${which} dead letters${topic === undefined ? "" : ` of the topic ${safeText(topic)}`}`;
}

const COMMANDS = new Map<string | undefined, Command>([
  ["list", list],
  ["show", show],
  ["replay", replay],
  ["discard", discard],
]);

/** `dead list|show|replay|discard` */
export const dead: Command = async ([name, ...args], io) => {
  const command = COMMANDS.get(name);
  if (command !== undefined) return await command(args, io);
  const names = [...COMMANDS.keys()].join(", ");
  throw new RangeError(`dead COMMAND must be one of ${names}, got ${name ?? "none"}; see --help`);
};
