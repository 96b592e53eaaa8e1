import { readData } from "./data-file.ts";

/** A file of golden data: what it is, and its arrays of cases by name. */
export interface GoldenFile {
  readonly header: Readonly<Record<string, unknown>>;
  readonly cases: ReadonlyMap<string, readonly object[]>;
}

/**
 * Reads a file of golden data.
 *
 * @throws Error if it is not of the format that its name promises, or not whole
 */
export function readGoldenFile(directory: string, name: string): GoldenFile {
  const { header, ...arrays } = JSON.parse(readData(directory, name).toString());
  const format = `gold/${name.replace(/\.json$/, "")}/1`;
  if (header?.format !== format)
    throw new Error(`the header must have format ${format}, got ${header?.format}`);
  const cases = new Map<string, readonly object[]>(Object.entries(arrays));
  for (const [section, list] of cases) {
    const count = header.counts?.[section];
    if (!Array.isArray(list)) throw new Error(`${section} is not an array of cases`);
    if (count !== undefined && count !== list.length)
      throw new Error(`${section} has ${list.length} cases; its header says ${count}`);
  }
  return { header, cases };
}
