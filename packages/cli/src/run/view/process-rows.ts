import type { Statuses } from "../core/status.ts";
import { type Cell, COLUMNS } from "./columns.ts";
import { layout } from "./layout.ts";
import type { Palette } from "./palette.ts";

function paint({ text, look }: Cell, palette: Palette): string {
  if (look === "dim") return palette.dim(text);
  if (look in palette.tone) return palette.tone[look as keyof Palette["tone"]](text);
  return palette.phase[look as keyof Palette["phase"]](text);
}

/** Options for {@link processRows}. */
export interface Drawing {
  readonly now: number;
  readonly room: number;
  readonly palette: Palette;
}

/** The table of processes: a row of titles, then one row each. */
export function processRows(statuses: Statuses, { now, room, palette }: Drawing): string[] {
  const columns = COLUMNS.map(({ title, cell, ...column }) => {
    const cells = [...statuses.values()].map((status) => paint(cell(status, now), palette));
    return { ...column, texts: [palette.dim(title), ...cells] };
  });
  return layout(columns, room);
}
