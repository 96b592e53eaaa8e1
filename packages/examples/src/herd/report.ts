import type { Column } from "../terminal/table.ts";
import type { Measurement, Scenario } from "./simulate.ts";

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
  { title: "DURING", width: 6, cell: ({ inVain }) => count(inVain) },
  { title: "AFTER", width: 6, cell: ({ calls }) => count(calls) },
  { title: "PEAK", width: 5, cell: ({ peak }) => count(peak) },
  { title: "ALL SERVED", cell: ({ lastServed }) => seconds(lastServed) },
];

/** The lines above the table. */
export function titleLines({ clients, outage }: Scenario): string[] {
  return [
    `${count(clients)} clients lose a server for ${seconds(outage)}, then reconnect`,
    "with exponential backoff, once for each form of jitter.",
    "",
  ];
}

/** The meaning of the columns, and the result of these runs. */
export function closingLines(loads: readonly Measurement[], { interval }: Scenario): string[] {
  const [none] = loads;
  if (none === undefined) return [];
  const best = loads.reduce((a, b) => (b.lastServed < a.lastServed ? b : a));
  const times = (none.lastServed / best.lastServed).toFixed(0);
  return [
    "DURING      calls while the server is down",
    "AFTER       calls from its return on",
    `PEAK        most calls in ${interval} ms after its return`,
    "ALL SERVED  from its return to the last client served",
    "",
    `Jitter "${best.form}" serves all ${times} times sooner than "${none.form}".`,
    "Next: npm run herd -- --seed 2 --outage 60",
    "Why: docs/choosing-jitter.md. Pictures: --svg DIRECTORY",
  ];
}
