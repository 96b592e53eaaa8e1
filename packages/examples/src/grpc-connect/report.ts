import { isTimeoutError } from "@holdfast/wait";
import type { createColors } from "picocolors";
import { formatDuration, formatElapsed } from "../terminal/duration.ts";
import { layout } from "../terminal/layout.ts";
import { type Attempt, type ClientEvent, nextDue } from "./attempt.ts";

/** The colours of a terminal. */
export type Colours = ReturnType<typeof createColors>;

/** An error in a word or two: "ECONNREFUSED", "timed out". */
function describeError(error: unknown): string {
  if (isTimeoutError(error)) return "timed out";
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

function describe(event: ClientEvent, last: Attempt, { green, red }: Colours): string | undefined {
  const took = formatDuration(event.at - last.startedAt);
  switch (event.type) {
    case "started":
      return undefined;
    case "accepted":
      return green(`accepted: SETTINGS frame after ${took}`);
    case "failed": {
      const next = event.delay > 0 ? `in ${formatDuration(event.delay)}` : "at once";
      return `${red(describeError(event.error))} after ${took}, next attempt ${next}`;
    }
    case "lost":
      return red(`lost after ${took}`);
  }
}

/**
 * A line about a change, or undefined for one that needs none.
 *
 * @param elapsed - milliseconds since the start of the program
 * @param last - the attempt after the change
 */
export function logLine(
  event: ClientEvent,
  elapsed: number,
  last: Attempt,
  colours: Colours,
): string | undefined {
  const text = describe(event, last, colours);
  if (text === undefined) return undefined;
  const stamp = colours.dim(formatElapsed(elapsed));
  return `${stamp}  ${last.behaviour.padEnd(6)}  attempt ${last.attempt}: ${text}`;
}

/** Options for {@link summaryLines}. */
export interface SummaryOptions {
  readonly room: number;
  readonly colours: Colours;
}

/** An attempt, and how long after it the next one started; undefined for the last. */
interface Row {
  readonly attempt: Attempt;
  readonly planned: number | undefined;
  readonly measured: number | undefined;
}

interface SummaryColumn {
  readonly title: string;
  readonly align: "left" | "right";
  readonly leaves: number;
  readonly text: (row: Row) => string;
}

/** The rounding error of a sum of instants: a thousandth of a millisecond. */
const EXACT = 1e-3;

function milliseconds(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(1)} ms`;
}

function outcome({ phase, error }: Attempt): string {
  switch (phase) {
    case "failed":
      return describeError(error);
    case "lost":
      return "accepted, then lost";
    case "connecting":
    case "connected":
      return "stopped";
  }
}

function difference({ planned, measured }: Row): string {
  return planned === undefined || measured === undefined
    ? "-"
    : `${measured < planned - EXACT ? "-" : "+"}${milliseconds(Math.abs(measured - planned))}`;
}

const COLUMNS: readonly SummaryColumn[] = [
  { title: "PEER", align: "left", leaves: 0, text: ({ attempt }) => attempt.behaviour },
  { title: "ATTEMPT", align: "right", leaves: 1, text: ({ attempt }) => `${attempt.attempt}` },
  { title: "ENDED AS", align: "left", leaves: 2, text: ({ attempt }) => outcome(attempt) },
  { title: "DELAY", align: "right", leaves: 3, text: ({ attempt }) => milliseconds(attempt.delay) },
  { title: "PLANNED", align: "right", leaves: 0, text: ({ planned }) => milliseconds(planned) },
  { title: "MEASURED", align: "right", leaves: 0, text: ({ measured }) => milliseconds(measured) },
  { title: "DIFFERENCE", align: "right", leaves: 0, text: difference },
];

function rowsOf(attempts: readonly Attempt[]): Row[] {
  return attempts.map((attempt, index) => {
    const { startedAt } = attempt;
    const due = nextDue(attempt);
    const following = attempts[index + 1];
    return {
      attempt,
      planned: due === undefined || following === undefined ? undefined : due - startedAt,
      measured: following && following.startedAt - startedAt,
    };
  });
}

/** Whether no attempt started before it might. */
export function isKept(attempts: readonly Attempt[]): boolean {
  return rowsOf(attempts).every(
    ({ planned = 0, measured = Number.POSITIVE_INFINITY }) => measured >= planned - EXACT,
  );
}

/** For each attempt, when the next one might start and when it did, both counted from its start. */
export function summaryLines(
  attempts: readonly Attempt[],
  { room, colours }: SummaryOptions,
): string[] {
  const { bold, dim, green, red } = colours;
  const rows = rowsOf(attempts);
  const columns = COLUMNS.map(({ title, text, ...column }) => {
    const texts = [dim(title), ...rows.map((row) => text(row))];
    return { ...column, least: 0, texts };
  });
  return [
    bold("From the start of each attempt to the start of the next"),
    dim("planned: when its delay is over, or when it has ended if that is later"),
    "",
    ...layout(columns, room),
    "",
    isKept(attempts)
      ? green("No attempt started too early.")
      : red("An attempt started too early!"),
  ];
}
