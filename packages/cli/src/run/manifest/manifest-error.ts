import { printable } from "../../printable.ts";

/** One thing that is wrong with a manifest, and where. Lines and columns count from 1. */
export interface ManifestError {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The mistake and the expected value. */
  readonly message: string;
  /** The text of the line. */
  readonly source: string;
}

/** `file:line:column: message`, which editors and terminals turn into a link. One line without escape codes. */
export function formatManifestError({ file, line, column, message }: ManifestError): string {
  return printable(`${file}:${line}:${column}: ${message}`);
}

/** Longest part of a line that is shown, in characters. */
const WINDOW = 200;

/** The same, with the line itself and a caret below the place. */
export function formatManifestErrorWithSource(error: ManifestError): string {
  const { line, column, source } = error;
  const gutter = `${line}`.padStart(5);
  const from = source.length <= WINDOW ? 0 : Math.max(column - 1 - WINDOW / 2, 0);
  const shown = printable(source.slice(from, from + WINDOW));
  const caret = `${" ".repeat(gutter.length)} | ${" ".repeat(column - 1 - from)}^`;
  return `${formatManifestError(error)}\n${gutter} | ${shown}\n${caret}`;
}
