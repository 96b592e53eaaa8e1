import { accessSync, constants, mkdirSync } from "node:fs";

/** What keeps files from being written into a directory, as words after its name. It is made if it is not there. */
export function directoryProblem(directory: string): string | undefined {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isFile = code === "EEXIST" || code === "ENOTDIR";
    return isFile ? "is not a directory" : `cannot be written to: ${message}`;
  }
}
