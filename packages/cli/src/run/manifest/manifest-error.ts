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

/** `file:line:column: message`, which editors and terminals turn into a link. */
export function formatManifestError({ file, line, column, message }: ManifestError): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** The same, with the line itself and a caret below the place. */
export function formatManifestErrorWithSource(error: ManifestError): string {
  const gutter = `${error.line}`.padStart(5);
  const before = error.source.slice(0, error.column - 1).replace(/[^\t]/g, " ");
  const caret = `${" ".repeat(gutter.length)} | ${before}^`;
  return `${formatManifestError(error)}\n${gutter} | ${error.source}\n${caret}`;
}
