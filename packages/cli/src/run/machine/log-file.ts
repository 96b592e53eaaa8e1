import { appendFileSync, closeSync, constants, fstatSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeOwnFolder, openOwnFile, requireOwnFolder } from "./own-folder.ts";

const FILE_BYTES = 10_000_000;
const FILES = 5;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * A file of at most 10 MB, and four older ones beside it, in a folder of this user alone: others could put a link in the
 * place of a file, and have this user write elsewhere.
 */
export class LogFile {
  readonly #directory: string;
  readonly #name: string;
  readonly #onProblem: (message: string) => void;
  /** Undefined while its folder is not known to be ours, or to be there. */
  #path: string | undefined;
  #hasProblem = false;

  /** @param directory - made if it is missing, with mode 0700 */
  constructor(directory: string, name: string, onProblem: (message: string) => void) {
    this.#directory = resolve(directory);
    this.#name = name;
    this.#onProblem = onProblem;
  }

  append(text: string): void {
    try {
      this.#path ??= join(makeOwnFolder(this.#directory), this.#name);
      const file = openWithRoom(this.#path, text.length);
      try {
        appendFileSync(file, text);
      } finally {
        closeSync(file);
      }
      this.#hasProblem = false;
    } catch (error) {
      this.#path = undefined;
      if (this.#hasProblem) return;
      this.#hasProblem = true;
      this.#onProblem(`no log of its output: ${(error as Error).message}`);
    }
  }
}

/** Opens a log, which is empty if it had no room for a text. */
function openWithRoom(path: string, length: number): number {
  const file = openOwnFile(path, APPEND);
  const { size } = fstatSync(file);
  if (size === 0 || size + length <= FILE_BYTES) return file;
  closeSync(file);
  requireOwnFolder(resolve(path, ".."));
  for (let number = FILES - 1; number > 0; number--) {
    const from = number === 1 ? path : `${path}.${number - 1}`;
    try {
      renameSync(from, `${path}.${number}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return openOwnFile(path, APPEND);
}
