import { closeSync, openSync } from "node:fs";

/** What keeps a file from being written at the end, found out at the start. It is made if it is not there. */
export function fileProblem(file: string): string | undefined {
  try {
    closeSync(openSync(file, "a"));
    return undefined;
  } catch (error) {
    return `${file} cannot be written to: ${(error as NodeJS.ErrnoException).code}. Name another file with --json.`;
  }
}
