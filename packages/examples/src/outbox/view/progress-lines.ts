import { formatDuration } from "../../terminal/duration.ts";
import type { Progress } from "../progress.ts";
import type { Colours } from "./view.ts";

/** The progress as a table, one figure per line. */
export function progressLines(progress: Progress, { bold, dim }: Colours, page?: string): string[] {
  const { elapsed, messages, open, statuses, received, workers, killed, expired } = progress;
  const { attempts, effects, duplicates, overlaps } = received;
  const working = workers.filter(({ state }) => state === "working").map(({ name }) => name);
  const time = formatDuration(Math.floor(elapsed / 1_000) * 1_000);
  const rows: readonly (readonly [name: string, text: string])[] = [
    ["orders", `${messages - open} of ${messages} placed`],
    [
      "messages",
      Object.entries(statuses)
        .map(([name, count]) => `${name} ${count}`)
        .join("  "),
    ],
    ["next", `${nextOf(progress)}  in flight ${received.open}`],
    [
      "receiver",
      `attempts ${attempts}  effects ${effects}  duplicates ${duplicates}  overlaps ${overlaps}`,
    ],
    ["workers", `${working.join(" ") || "-"}  killed ${killed}  expired ${expired}`],
    ["lock", progress.lock?.holder ?? "-"],
  ];
  const table = rows.map(([name, text]) => `${dim(name.padEnd(10))}${text}`);
  const title = [time, "Ctrl-C stops", ...(page === undefined ? [] : [page])].join(" · ");
  return [`${bold("outbox")}    ${dim(title)}`, "", ...table];
}

function nextOf({ nextAttempt }: Progress): string {
  if (nextAttempt === undefined) return "-";
  return nextAttempt === 0 ? "due" : `in ${formatDuration(nextAttempt)}`;
}
