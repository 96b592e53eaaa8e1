import type { Column } from "../terminal/table.ts";
import type { Measurement } from "./simulate.ts";

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** The columns of the printed table, one row per network. */
export const COLUMNS: readonly Column<Measurement>[] = [
  { title: "STATIONS", cell: ({ stations }) => `${stations}` },
  { title: "FORMULA", width: 8, cell: ({ formula }) => percent(formula) },
  { title: "MEASURED", width: 8, cell: ({ efficiency }) => percent(efficiency) },
  { title: "GIVEN UP", width: 8, cell: ({ dropShare }) => percent(dropShare) },
  { title: "CAPTURE", width: 8, cell: ({ repeated }) => percent(repeated) },
  { title: "IF FAIR", width: 8, cell: ({ stations }) => percent(1 / stations) },
];

/** The lines above the table. */
export function titleLines(bytes: number, minutes: number): string[] {
  return [
    "Ethernet at 10 Mbit/s; every station always has a frame.",
    `Frames of ${bytes} bytes, ${minutes} min per network, time is simulated.`,
    "",
  ];
}

/** The meaning of the columns, and the result of this run. */
export function closingLines(networks: readonly Measurement[]): string[] {
  const [first] = networks;
  const last = networks.at(-1);
  if (first === undefined || last === undefined) return [];
  const couple = networks.find(({ stations }) => stations === 2) ?? first;
  return [
    "FORMULA   throughput by Metcalfe and Boggs",
    "MEASURED  throughput of this simulation",
    "GIVEN UP  frames given up after 16 attempts",
    "CAPTURE   frames from the sender of the frame before",
    "IF FAIR   the same share if all took turns at random",
    "",
    `${couple.stations} stations: one keeps the wire, ${percent(couple.repeated)} capture.`,
    `${last.stations} stations: ${percent(last.dropShare)} of the frames are given up.`,
    "Next: npm run ethernet -- --bytes 64 --minutes 1",
    "Why: docs/ethernet.md. Pictures: --svg DIRECTORY",
  ];
}
