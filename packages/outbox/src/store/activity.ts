import type { MessageStatus } from "../message/message.ts";
import type { Row } from "./database.ts";

/** The length of a slot of {@link Activity}, in milliseconds. */
export const SLOT = 10_000;

/** The maximum number of messages of a status that are read for {@link Activity}. */
export const ACTIVITY_LIMIT = 10_000;

/** Messages of a topic that have had a status since the same ten seconds. */
export interface Activity {
  /** Their topic. */
  readonly topic: string;

  /** Their status now. */
  readonly status: MessageStatus;

  /** The first instant of these ten seconds, in milliseconds since the epoch; undefined for those before all that are told apart. */
  readonly slot: number | undefined;

  /** How many. */
  readonly count: number;

  /** The instant the oldest was saved: milliseconds since the epoch. */
  readonly oldest: number;

  /** Whether there may be more of the topic and status, which were not read. */
  readonly isCut: boolean;
}

/** Reads rows of `status`, `topic`, `slot`, `messages` and `oldest`; `most` is the maximum of a topic, if it has one. */
export function activityFrom(rows: readonly Row[]): readonly Activity[] {
  const sums = new Map<string, number>();
  const names = (row: Row): readonly string[] => [
    `${row["status"]}`,
    `${row["status"]} ${row["topic"]}`,
  ];
  for (const row of rows)
    for (const name of names(row)) sums.set(name, (sums.get(name) ?? 0) + Number(row["messages"]));
  return rows.map((row) => {
    const [all = 0, own = 0] = names(row).map((name) => sums.get(name));
    const most = row["most"] ?? undefined;
    const slot = row["slot"] ?? undefined;
    return {
      topic: String(row["topic"]),
      status: row["status"] as MessageStatus,
      slot: slot === undefined ? undefined : Number(slot),
      count: Number(row["messages"]),
      oldest: Number(row["oldest"]),
      isCut: most === undefined ? all >= ACTIVITY_LIMIT : own >= Number(most),
    };
  });
}
