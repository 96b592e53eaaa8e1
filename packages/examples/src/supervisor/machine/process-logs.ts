import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";

const TAIL_BYTES = 4_096;

/** The last line that says something: not a stack frame, a brace or the banner of Node.js. */
function lastWords(text: string): string | undefined {
  const lines = stripVTControlCharacters(text).split(/\r?\n/);
  return lines.findLast(
    (line) => /^\S/.test(line) && /\p{L}/u.test(line) && !/^Node\.js v/.test(line),
  );
}

/**
 * Where processes write: one file per name for the life they lead, one for the life before.
 *
 * Files, not pipes: the output is complete when the process exits, a descendant with an open descriptor blocks
 * nothing, and the output survives a killed supervisor.
 */
export class ProcessLogs {
  readonly directory: string;

  /** @param directory - kept afterwards; if undefined, one is made that goes with the program */
  constructor(directory: string | undefined) {
    this.directory =
      directory === undefined ? mkdtempSync(join(tmpdir(), "holdfast-")) : resolve(directory);
    this.#make();
    if (directory === undefined) process.once("exit", () => this.#remove());
  }

  /** A descriptor of an empty file for a new life. The caller closes it. */
  open(name: string): number {
    this.#make(); // A cleaner of temporary files may have removed it.
    try {
      // No log of a current run ends like this, however its process is named.
      renameSync(this.#path(name), `${this.#path(name)}.previous`);
    } catch {
      // Its first life.
    }
    return openSync(this.#path(name), "a", 0o600); // a process may print secrets
  }

  /** The last line of the current life that is worth showing; none if its file is gone. */
  lastWords(name: string): string | undefined {
    let file: number | undefined;
    try {
      file = openSync(this.#path(name), "r");
      const { size } = fstatSync(file);
      const length = Math.min(size, TAIL_BYTES);
      const buffer = Buffer.alloc(length);
      readSync(file, buffer, 0, length, size - length);
      return lastWords(buffer.toString("utf8"));
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #make(): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
  }

  #remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.directory, `${name}.log`);
  }
}
