import { formatDuration } from "../../terminal/duration.ts";
import { layout } from "../../terminal/layout.ts";
import type { ProcessStatus, Statuses, Wait } from "../core/status.ts";
import { formatExit } from "./format-run.ts";
import type { Palette } from "./palette.ts";

/** Options for a summary. */
export interface SummaryOptions {
  /** From the first start to the end of the last process, in milliseconds. */
  readonly elapsed: number;
  /** Processes that are still alive. */
  readonly left: number;
  readonly room: number;
  readonly palette: Palette;
}

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function signed(value: number): string {
  return `${value < 0 ? "-" : "+"}${milliseconds(Math.abs(value))}`;
}

interface Row {
  readonly status: ProcessStatus;
  /** Undefined if the process never waited. */
  readonly wait: Wait | undefined;
  readonly index: number;
}

interface SummaryColumn {
  readonly title: string;
  readonly align: "left" | "right";
  readonly leaves: number;
  readonly text: (row: Row, palette: Palette) => string;
}

function rowsOf(status: ProcessStatus): Row[] {
  if (status.waits.length === 0) return [{ status, wait: undefined, index: 0 }];
  return status.waits.map((wait, index) => ({ status, wait, index }));
}

/** A text that is printed once per process, in its first row. */
function once(text: (status: ProcessStatus, palette: Palette) => string): SummaryColumn["text"] {
  return ({ status, index }, palette) => (index === 0 ? text(status, palette) : "");
}

function ofWait(text: (wait: Wait, row: Row) => string): SummaryColumn["text"] {
  return (row, palette) => (row.wait === undefined ? palette.dim("-") : text(row.wait, row));
}

const COLUMNS: readonly SummaryColumn[] = [
  { title: "PROCESS", align: "left", leaves: 0, text: once(({ name }, { bold }) => bold(name)) },
  {
    title: "ENDED AS",
    align: "left",
    leaves: 3,
    text: once(({ phase }, palette) => palette.phase[phase](phase)),
  },
  { title: "STARTS", align: "right", leaves: 1, text: once(({ starts }) => `${starts}`) },
  {
    title: "LAST EXIT",
    align: "left",
    leaves: 2,
    text: once(({ lastRun }) => (lastRun === undefined ? "-" : formatExit(lastRun.exit))),
  },
  {
    title: "RESTART",
    align: "right",
    leaves: 4,
    text: ofWait((_, { status, index }) => `${status.waitCount - status.waits.length + index + 1}`),
  },
  {
    title: "PLANNED",
    align: "right",
    leaves: 0,
    text: ofWait(({ planned }) => milliseconds(planned)),
  },
  {
    title: "MEASURED",
    align: "right",
    leaves: 0,
    text: ofWait(({ measured }) => (measured === undefined ? "cut short" : milliseconds(measured))),
  },
  {
    title: "DIFFERENCE",
    align: "right",
    leaves: 0,
    text: ofWait(({ planned, measured }) =>
      measured === undefined ? "-" : signed(measured - planned),
    ),
  },
];

/** For each process, the planned delays beside the gaps from exit to next start as they were. */
export function summaryLines(statuses: Statuses, options: SummaryOptions): string[] {
  const { elapsed, left, room, palette } = options;
  const rows = [...statuses.values()].flatMap(rowsOf);
  const columns = COLUMNS.map(({ title, text, ...column }) => {
    const texts = [palette.dim(title), ...rows.map((row) => text(row, palette))];
    return { ...column, least: 0, texts };
  });
  const remains = left === 0 ? "No process is running." : `${left} processes are still running!`;
  return [
    palette.bold(`Summary after ${formatDuration(elapsed)}`),
    palette.dim("planned delay of each restart, and the measured time from exit to next start"),
    "",
    ...layout(columns, room),
    "",
    palette.tone[left === 0 ? "good" : "bad"](remains),
  ];
}
