import { cut, widthOf as textWidth } from "./text.ts";

/** One column of text: its title, then its rows. */
export interface TextColumn {
  readonly align: "left" | "right";
  /** The order in which columns are dropped when the terminal is too narrow; 0 is never dropped. */
  readonly leaves: number;
  /** Minimum width, so that the columns to the right do not jump. */
  readonly least: number;
  readonly texts: readonly string[];
}

const GAP = "  ";

function widthOf({ texts, least }: TextColumn): number {
  return Math.max(least, ...texts.map((text) => textWidth(text)));
}

function total(columns: readonly TextColumn[]): number {
  const sum = columns.reduce((columnsWidth, column) => columnsWidth + widthOf(column), 0);
  return sum + GAP.length * (columns.length - 1);
}

/** The columns that fit side by side. */
function fitting<Column extends TextColumn>(
  columns: readonly Column[],
  room: number,
): readonly Column[] {
  if (total(columns) <= room) return columns;
  const leaving = columns.filter(({ leaves }) => leaves > 0);
  if (leaving.length === 0) return columns;
  const first = leaving.reduce((a, b) => (a.leaves < b.leaves ? a : b));
  return fitting(
    columns.filter((column) => column !== first),
    room,
  );
}

function pad(text: string, { align }: TextColumn, to: number): string {
  const space = " ".repeat(Math.max(to - textWidth(text), 0));
  return align === "left" ? text + space : space + text;
}

/** Pads the columns and joins their rows. Cuts rows longer than `room` with an ellipsis. */
export function layout(columns: readonly TextColumn[], room: number): string[] {
  const fits = fitting(columns, room);
  const rows = columns[0]?.texts.length ?? 0;
  return Array.from({ length: rows }, (_, row) => {
    const cells = fits.map((column) => pad(column.texts[row] ?? "", column, widthOf(column)));
    return cut(cells.join(GAP).trimEnd(), room);
  });
}
