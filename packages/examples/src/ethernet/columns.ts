import type { Column } from "../terminal/table.ts";
import type { Measurement } from "./simulate.ts";

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function count(frames: number): string {
  return frames.toLocaleString("en-US");
}

/** The columns of the printed table, one row per network. */
export const COLUMNS: readonly Column<Measurement>[] = [
  { title: "STATIONS", cell: ({ stations }) => count(stations) },
  { title: "FORMULA", width: 8, cell: ({ formula }) => percent(formula) },
  { title: "MEASURED", cell: ({ efficiency }) => percent(efficiency) },
  { title: "OFFERED", width: 9, cell: ({ offered }) => count(offered) },
  { title: "DELIVERED", cell: ({ delivered }) => count(delivered) },
  { title: "GIVEN UP", width: 9, cell: ({ dropped }) => count(dropped) },
  { title: "SHARE", width: 8, cell: ({ dropShare }) => percent(dropShare) },
  { title: "SAME AGAIN", cell: ({ repeated }) => percent(repeated) },
  { title: "IF FAIR", width: 8, cell: ({ stations }) => percent(1 / stations) },
];
