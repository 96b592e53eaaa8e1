import { accessSync, constants, mkdirSync } from "node:fs";

/**
 * Creates a directory if it is missing, and checks that files can be written into it.
 *
 * @returns the problem, as words after the name of the directory; undefined for none
 */
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
