import truncate from "cli-truncate";
import wrap from "wrap-ansi";
import { formatDuration, formatElapsed } from "../../terminal/duration.ts";
import type { Statuses } from "../core/status.ts";
import type { Line } from "./line.ts";
import type { Palette } from "./palette.ts";
import { processRows } from "./process-rows.ts";

/** A line together with its time since the start, in milliseconds. */
export interface TimedLine extends Line {
  readonly elapsed: number;
}

/** Everything that a frame of the live view shows. */
export interface Frame {
  readonly file: string;
  readonly statuses: Statuses;
  /** Current mistakes of the manifest, shown in full because the user has to fix them. */
  readonly problems: readonly string[];
  /** The effect of Ctrl-C. */
  readonly hint: string;
  /** The latest changes, the newest last. */
  readonly recent: readonly TimedLine[];
  readonly now: number;
  readonly start: number;
  /** How long the run lasts; `Infinity` if there is no end. */
  readonly duration: number;
}

/** Size of a frame, in characters. */
export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly palette: Palette;
}

function title({ file, hint, now, start, duration }: Frame, palette: Palette): string {
  const elapsed = formatDuration(Math.round((now - start) / 1_000) * 1_000);
  const time = Number.isFinite(duration) ? `${elapsed} of ${formatDuration(duration)}` : elapsed;
  return `${palette.bold(file)}  ${palette.dim(`${time} · ${hint}`)}`;
}

function recentLine({ elapsed, who, text, tone }: TimedLine, nameWidth: number, palette: Palette) {
  const name = who.padEnd(nameWidth);
  return `${palette.dim(formatElapsed(elapsed))}  ${name}  ${palette.tone[tone](text)}`;
}

/** The lines of a frame. Nothing is wider or higher than the canvas; old changes go first. */
export function frameLines(frame: Frame, { columns, rows, palette }: Canvas): string[] {
  const { statuses, recent, problems, now } = frame;
  const cut = (line: string): string => truncate(line, columns);
  const table = processRows(statuses, { now, room: columns, palette });
  const problemLines = problems.flatMap((problem) =>
    wrap(problem, columns, { hard: true }).split("\n").map(palette.tone.bad),
  );
  const gap = problems.length > 0 ? [""] : [];
  const top = [title(frame, palette), "", ...table, "", ...problemLines, ...gap];

  const nameWidth = Math.max(0, ...recent.map(({ who }) => who.length));
  const history = recent.map((line) => recentLine(line, nameWidth, palette));
  const roomForHistory = Math.max(rows - top.length, 0);
  const shown = roomForHistory === 0 ? [] : history.slice(-roomForHistory);
  const lines = [...top, ...shown].map(cut);
  if (lines.length <= rows) return lines;
  const hidden = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), palette.dim(`… ${hidden} more lines`)];
}
