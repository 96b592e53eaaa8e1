import { readFile } from "node:fs/promises";

/**
 * Reads text files. Callers share a read that has not ended: on a file system that hangs, each read keeps one of the few
 * threads that Node has for files and names.
 */
export class TextFiles {
  readonly #reads = new Map<string, Promise<string>>();

  /** The text of a file as it is now. */
  read(path: string): Promise<string> {
    const current = this.#reads.get(path);
    if (current !== undefined) return current;
    const read = readFile(path, "utf8").finally(() => this.#reads.delete(path));
    this.#reads.set(path, read);
    return read;
  }
}
