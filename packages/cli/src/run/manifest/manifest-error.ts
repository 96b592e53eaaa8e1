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

/** Most errors of a manifest that are shown. */
const MOST_ERRORS = 100;
/** Longest part of a message that is shown, in characters. */
const LONGEST = 500;

/** The first errors of a manifest, in some format, and how many more there are. */
export function formatManifestErrors(
  errors: readonly ManifestError[],
  format: (error: ManifestError) => string,
): readonly string[] {
  const more = errors.length - MOST_ERRORS;
  const shown = errors.slice(0, MOST_ERRORS).map(format);
  return more > 0 ? [...shown, `${more} more mistakes`] : shown;
}

/** `file:line:column: message`, which editors and terminals turn into a link. One line without escape codes. */
export function formatManifestError({ file, line, column, message }: ManifestError): string {
  const shown = message.length > LONGEST ? `${message.slice(0, LONGEST)}…` : message;
  return printable(`${file}:${line}:${column}: ${shown}`);
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
