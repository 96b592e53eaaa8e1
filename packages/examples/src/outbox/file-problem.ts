import { closeSync, openSync } from "node:fs";

/** The reason why a file cannot be written, checked at the start. Creates a missing file. */
export function fileProblem(file: string): string | undefined {
  try {
    closeSync(openSync(file, "a"));
    return undefined;
  } catch (error) {
    return `${file} cannot be written to: ${(error as NodeJS.ErrnoException).code}. Name another file with --json.`;
  }
}
