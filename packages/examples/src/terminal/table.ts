/** One column of a table of numbers. */
export interface Column<Row> {
  readonly title: string;
  /** Minimum width in characters; the width of the title by default. */
  readonly width?: number;
  /** Alignment; right by default, for numbers. */
  readonly align?: "left";
  readonly cell: (row: Row) => string;
}

/** The title line of a table. */
export function headOf<Row>(columns: readonly Column<Row>[]): string {
  return join(columns, ({ title }) => title);
}

/** One row of a table, printable before the next row is known. */
export function lineOf<Row>(columns: readonly Column<Row>[], row: Row): string {
  return join(columns, ({ cell }) => cell(row));
}

function join<Row>(columns: readonly Column<Row>[], text: (column: Column<Row>) => string): string {
  const cells = columns.map((column) => {
    const width = Math.max(column.width ?? 0, column.title.length);
    return column.align === "left" ? text(column).padEnd(width) : text(column).padStart(width);
  });
  return cells.join("  ");
}
