import type { Column } from "../terminal/table.ts";
import type { Measurement } from "./simulate.ts";

/** A number of calls, with commas between the thousands. */
export function count(calls: number): string {
  return calls.toLocaleString("en-US");
}

/** Milliseconds as seconds. */
export function seconds(duration: number): string {
  return `${(duration / 1_000).toFixed(1)} s`;
}

/** The columns of the printed table, one row per form of jitter. */
export const COLUMNS: readonly Column<Measurement>[] = [
  { title: "JITTER", width: 18, align: "left", cell: ({ form }) => form },
  { title: "WHILE DOWN", cell: ({ inVain }) => count(inVain) },
  { title: "AFTERWARDS", cell: ({ calls }) => count(calls) },
  { title: "PEAK IN 250 MS", cell: ({ peak }) => count(peak) },
  { title: "LAST CLIENT SERVED AFTER", cell: ({ lastServed }) => seconds(lastServed) },
];
