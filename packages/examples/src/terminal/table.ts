/** One column of a table of numbers. */
export interface Column<Row> {
  readonly title: string;
  /** The least width, in characters; at least that of the title. */
  readonly width?: number;
  /** Where its text stands; numbers stand to the right. */
  readonly align?: "left";
  readonly cell: (row: Row) => string;
}

/** The titles of a table, above its numbers. */
export function headOf<Row>(columns: readonly Column<Row>[]): string {
  return join(columns, ({ title }) => title);
}

/** One line of a table, which can be printed before the next row is known. */
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
