import type { Queryable, Row } from "../store/database.ts";

/** The most values in one list. */
const LONGEST_LIST = 1_024;

/**
 * Cuts values into lists for `IN`. Each is filled up with its last value to a power of two, or there
 * would be a prepared statement on the server for each length.
 */
export function listsOf<Value>(values: readonly Value[]): readonly (readonly Value[])[] {
  const lists: (readonly Value[])[] = [];
  for (let start = 0; start < values.length; start += LONGEST_LIST)
    lists.push(filledUp(values.slice(start, start + LONGEST_LIST)));
  return lists;
}

/** A list that is filled up with its last value to a power of two. An empty one stays so. */
function filledUp<Value>(values: readonly Value[]): readonly Value[] {
  const list = [...values];
  const last = list.at(-1) as Value;
  while (list.length > 0 && !Number.isInteger(Math.log2(list.length))) list.push(last);
  return list;
}

/** The sequence number of a row, the key of its table. */
export function sequenceOf(row: Row): unknown {
  return row["sequence"];
}

/**
 * Runs a statement for rows, in lists.
 *
 * @param textOf - gives the statement for a list of so many sequence numbers
 * @param params - its values before the list
 * @returns how many rows there are
 */
export async function changeAll(
  tx: Queryable,
  sequences: readonly unknown[],
  textOf: (count: number) => string,
  params: readonly unknown[] = [],
): Promise<number> {
  for (const list of listsOf(sequences)) await tx.query(textOf(list.length), [...params, ...list]);
  return sequences.length;
}
