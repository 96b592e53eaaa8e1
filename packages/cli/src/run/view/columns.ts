import { formatDuration } from "../../arguments.ts";
import type { Phase } from "../core/phase.ts";
import type { ProcessStatus } from "../core/status.ts";
import { formatExit } from "./format-run.ts";
import type { Tone } from "./line.ts";

/** Text of a cell, and its tone. */
export interface Cell {
  readonly text: string;
  readonly look: Tone | Phase | "dim";
}

/** One column of the table of processes. */
export interface Column {
  readonly title: string;
  readonly align: "left" | "right";
  /** Where the terminal is too narrow, columns go in the order of this number; 0 stays. */
  readonly leaves: number;
  /** The least width, so that the columns after it do not jump. */
  readonly least: number;
  readonly cell: (status: ProcessStatus, now: number) => Cell;
}

const NOTHING: Cell = { text: "-", look: "dim" };

function plain(text: string): Cell {
  return { text, look: "plain" };
}

function readyCell({ ready, phase }: ProcessStatus): Cell {
  if (ready === undefined || phase !== "Running") return NOTHING;
  return ready ? { text: "yes", look: "good" } : { text: "no", look: "warning" };
}

/** Why it waits or is not ready, and else how it ended last. */
function lastExitCell({ lastRun, reason }: ProcessStatus): Cell {
  if (reason !== undefined) return { text: reason, look: "warning" };
  if (lastRun === undefined) return NOTHING;
  const { exit, ran } = lastRun;
  if (exit.kind === "error") return { text: formatExit(exit), look: "bad" };
  return plain(`${formatExit(exit)} after ${formatDuration(ran)}`);
}

/** Whole seconds, rounded up, so that the last second is 1 and not 0. */
function nextStartCell({ nextStart }: ProcessStatus, now: number): Cell {
  if (nextStart === undefined) return NOTHING;
  const seconds = Math.max(Math.ceil((nextStart - now) / 1_000), 0);
  return { text: `in ${formatDuration(seconds * 1_000)}`, look: "warning" };
}

const WIDEST_PHASE = "CrashLoopBackOff".length;
const USUAL_EXIT = "code 1 after 1m30s".length;

export const COLUMNS: readonly Column[] = [
  { title: "NAME", align: "left", leaves: 0, least: 0, cell: ({ name }) => plain(name) },
  {
    title: "PHASE",
    align: "left",
    leaves: 0,
    least: WIDEST_PHASE,
    cell: ({ phase }) => ({ text: phase, look: phase }),
  },
  { title: "READY", align: "left", leaves: 3, least: 0, cell: readyCell },
  {
    title: "PID",
    align: "right",
    leaves: 2,
    least: 7,
    cell: ({ pid }) => (pid === undefined ? NOTHING : plain(`${pid}`)),
  },
  {
    title: "RESTARTS",
    align: "right",
    leaves: 4,
    least: 0,
    cell: ({ starts }) => plain(`${Math.max(starts - 1, 0)}`),
  },
  { title: "LAST EXIT", align: "left", leaves: 1, least: USUAL_EXIT, cell: lastExitCell },
  { title: "NEXT START", align: "left", leaves: 5, least: 0, cell: nextStartCell },
];
