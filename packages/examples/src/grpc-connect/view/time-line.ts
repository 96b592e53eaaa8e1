import type { createColors } from "picocolors";
import type { Attempt } from "../attempt.ts";

/** The colours of a terminal. */
export type Colours = ReturnType<typeof createColors>;

/** The canvas of a time line. Instants are monotonic. */
export interface Canvas {
  readonly colours: Colours;
  /** How many columns there are. */
  readonly room: number;
  /** The instant at the left edge. */
  readonly start: number;
  /** How much time there is room for, in milliseconds. */
  readonly span: number;
  /** Between `start` and `start + span`. */
  readonly now: number;
}

type Cell = "nothing" | "connecting" | "failed" | "connected" | "lost" | "waiting" | "ahead";

const LABEL = "accept  10  ".length;
const LEAST_CELLS = 20;
/** Distances between two marks of the axis, in seconds. The axis uses the first that fits. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 300, 3_600];
const LEAST_BETWEEN_MARKS = 8;

const SYMBOLS: Readonly<Record<Cell, string>> = {
  nothing: " ",
  connecting: "▒",
  failed: "×",
  connected: "━",
  lost: "╳",
  waiting: "─",
  ahead: "·",
};

function paint(cell: Cell, { dim, green, red, yellow }: Colours): string {
  const symbol = SYMBOLS[cell];
  switch (cell) {
    case "nothing":
      return symbol;
    case "connecting":
      return yellow(symbol);
    case "failed":
    case "lost":
      return red(symbol);
    case "connected":
      return green(symbol);
    case "waiting":
    case "ahead":
      return dim(symbol);
  }
}

/** The cell of an attempt in one column. `columnOf` returns the column of an instant. */
function cellOf(
  { startedAt, delay, acceptedAt, endedAt = Number.POSITIVE_INFINITY, phase }: Attempt,
  column: number,
  columnOf: (instant: number) => number,
  now: number,
): Cell {
  if (column < columnOf(startedAt)) return "nothing";
  if (column === columnOf(endedAt)) return phase === "lost" ? "lost" : "failed";
  if (column > columnOf(Math.min(endedAt, now))) {
    if (column >= columnOf(startedAt + delay)) return "nothing";
    return column <= columnOf(now) ? "waiting" : "ahead";
  }
  return acceptedAt !== undefined && column >= columnOf(acceptedAt) ? "connected" : "connecting";
}

function axis(span: number, cells: number): string {
  const perSecond = (cells / span) * 1_000;
  const step = STEPS.find((seconds) => seconds * perSecond >= LEAST_BETWEEN_MARKS);
  if (step === undefined) return "";
  let line = "";
  for (let mark = 0; ; mark++) {
    const label = `${Number((mark * step).toFixed(1))}s`;
    const column = Math.floor(mark * step * perSecond);
    if (column + label.length > cells) return line;
    line = line.padEnd(column) + label;
  }
}

/**
 * One row for each attempt, from left to right as time goes: connecting, connected, waiting until the
 * next one may start.
 */
export function timeLine(attempts: readonly Attempt[], canvas: Canvas): string[] {
  const { colours, room, start, span, now } = canvas;
  const cells = Math.max(room - LABEL, LEAST_CELLS);
  const columnOf = (instant: number): number => Math.floor(((instant - start) / span) * cells);
  const rows = attempts.map((attempt) => {
    const label = `${attempt.behaviour.padEnd(6)}  ${String(attempt.attempt).padStart(2)}  `;
    const bar = Array.from({ length: cells }, (_, column) =>
      cellOf(attempt, column, columnOf, now),
    );
    const end = bar.findLastIndex((cell) => cell !== "nothing") + 1;
    const painted = bar.slice(0, end).map((cell) => paint(cell, colours));
    return label + painted.join("");
  });
  return [colours.dim(`${"PEER".padEnd(LABEL)}${axis(span, cells)}`), ...rows];
}

/** The meaning of the symbols. */
export function legend({ dim }: Colours): string {
  const { connecting, failed, connected, lost, waiting, ahead } = SYMBOLS;
  const words = [
    `${connecting} connecting`,
    `${failed} failed`,
    `${connected} connected`,
    `${lost} lost`,
    `${waiting} waited`,
    `${ahead} still to wait`,
  ];
  return dim(words.join("  "));
}
