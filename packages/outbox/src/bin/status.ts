import { BACKLOG_LIMIT, type OutboxStore } from "../store/outbox-store.ts";
import { type Command, connected, read } from "./command.ts";
import { ageText, instantText, jsonLine, safeText, tableText } from "./text.ts";

/** Messages that are due and not claimed for so long mean that no relay runs, or too few. Milliseconds. */
const LATE = 60_000;

/** What is still to be done in an outbox. Instants are milliseconds since the epoch. */
export interface Status {
  /** The clock of the database. */
  readonly at: number;
  readonly pending: number;
  readonly retrying: number;
  readonly dead: number;
  /** The number up to which the messages of a status are counted: it stands for as many or more. */
  readonly limit: number;
  /** When the first message that no relay has claimed is due, without those of paused topics; undefined if there is none. */
  readonly nextDue: number | undefined;
  /** The topics that are paused. */
  readonly paused: readonly string[];
  /** Why the database may hide messages; undefined if it does not. */
  readonly restriction: string | undefined;
}

/** @param now - the clock of this process, for a store without one */
export async function statusOf(
  store: Pick<OutboxStore<never>, "backlog" | "nextDue" | "now" | "pausedTopics" | "restriction">,
  now: number,
): Promise<Status> {
  const at = (await store.now?.()) ?? now;
  const restriction = await store.restriction?.();
  const { pending, retrying, dead } = await store.backlog();
  const counts = { pending, retrying, dead, limit: BACKLOG_LIMIT };
  const paused = (await store.pausedTopics?.()) ?? [];
  const nextDue = await store.nextDue(undefined, { exceptTopics: paused });
  return { at, ...counts, nextDue, paused, restriction };
}

/** The numbers of messages by status, in words. */
export function countsOf(status: Status): readonly (readonly [string, string])[] {
  return (["pending", "retrying", "dead"] as const).map((name) => {
    const count = status[name];
    return [name, count < status.limit ? `${count}` : `${count} or more`];
  });
}

/** Whether messages wait although they are due. */
export function isLate({ at, nextDue }: Status): boolean {
  return nextDue !== undefined && at - nextDue >= LATE;
}

/** The next attempt, in words. */
export function nextText({ at, nextDue }: Status): string {
  if (nextDue === undefined) return "none";
  const when = nextDue > at ? `in ${ageText(nextDue - at)}` : `due for ${ageText(at - nextDue)}`;
  return `${instantText(nextDue)} (${when})`;
}

/** `status` */
export const status: Command = async (args, io) => {
  const { values } = read(args, {});
  await using connection = await connected(io, values);
  const found = await statusOf(connection.store, io.clock.now());
  if (values.json) io.print(jsonLine(found));
  else {
    const paused = found.paused.map((topic) => ["paused", safeText(topic)]);
    io.print(tableText([...countsOf(found), ["next attempt", nextText(found)], ...paused]));
    if (isLate(found)) io.note("messages are due and no relay claims them: is one running?");
  }
  return 0;
};
