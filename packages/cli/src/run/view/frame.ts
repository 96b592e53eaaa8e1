import { formatDuration } from "../../arguments.ts";
import { printable } from "../../printable.ts";
import type { Statuses } from "../core/status.ts";
import { type Cell, COLUMNS } from "./columns.ts";
import { layout } from "./layout.ts";
import type { Line } from "./line.ts";
import type { Palette } from "./palette.ts";
import { cut, wrap } from "./text.ts";

/** A line together with its time since the start, in milliseconds. */
export interface TimedLine extends Line {
  readonly who: string;
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
  return `${palette.bold(printable(file))}  ${palette.dim(`${time} · ${hint}`)}`;
}

/** Milliseconds as a time stamp: "00:03.214", and "26:00:03.214" after an hour. */
function formatElapsed(elapsed: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const [seconds, rest] = [elapsed / 1_000, String(Math.floor(elapsed) % 1_000).padStart(3, "0")];
  const time = `${two((seconds / 60) % 60)}:${two(seconds % 60)}.${rest}`;
  return seconds < 3_600 ? time : `${two(seconds / 3_600)}:${time}`;
}

function recentLine({ elapsed, who, text, tone }: TimedLine, nameWidth: number, palette: Palette) {
  const name = who.padEnd(nameWidth);
  return `${palette.dim(formatElapsed(elapsed))}  ${name}  ${palette.tone[tone](printable(text))}`;
}

/** The lines of a frame. Nothing is wider or higher than the canvas; old changes go first. */
export function frameLines(frame: Frame, { columns, rows, palette }: Canvas): string[] {
  const { statuses, recent, problems, now } = frame;
  const table = processRows(statuses, { now, room: columns, palette });
  const problemLines = problems.flatMap((problem) =>
    wrap(printable(problem), columns).map(palette.tone.bad),
  );
  const gap = problems.length > 0 ? [""] : [];
  const top = [title(frame, palette), "", ...table, "", ...problemLines, ...gap];

  const nameWidth = Math.max(0, ...recent.map(({ who }) => who.length));
  const history = recent.map((line) => recentLine(line, nameWidth, palette));
  const roomForHistory = Math.max(rows - top.length, 0);
  const shown = roomForHistory === 0 ? [] : history.slice(-roomForHistory);
  const lines = [...top, ...shown].map((line) => cut(line, columns));
  if (lines.length <= rows) return lines;
  const hidden = lines.length - rows + 1;
  return [...lines.slice(0, rows - 1), palette.dim(`… ${hidden} more lines`)];
}

function paint({ text: shown, look }: Cell, palette: Palette): string {
  const text = printable(shown);
  if (look === "dim") return palette.dim(text);
  if (look in palette.tone) return palette.tone[look as keyof Palette["tone"]](text);
  return palette.phase[look as keyof Palette["phase"]](text);
}

/** Options for {@link processRows}. */
interface Drawing {
  readonly now: number;
  readonly room: number;
  readonly palette: Palette;
}

/** The table of processes: a row of titles, then one row each. */
function processRows(statuses: Statuses, { now, room, palette }: Drawing): string[] {
  const columns = COLUMNS.map(({ title, cell, ...column }) => {
    const cells = [...statuses.values()].map((status) => paint(cell(status, now), palette));
    return { ...column, texts: [palette.dim(title), ...cells] };
  });
  return layout(columns, room);
}
