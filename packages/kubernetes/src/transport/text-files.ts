import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";

/** Longest file, in bytes: tokens and certificates are far shorter. */
const LONGEST = 1_000_000;

/**
 * Reads text files. Callers share a read that has not ended: on a file system that hangs, each read keeps one of the few
 * threads that Node has for files and names.
 */
export class TextFiles {
  readonly #reads = new Map<string, Promise<string>>();

  /** The text of a file as it is now. Rejects with `EFBIG` above 1 MB. */
  read(path: string): Promise<string> {
    const current = this.#reads.get(path);
    if (current !== undefined) return current;
    const read = textOf(path).finally(() => this.#reads.delete(path));
    this.#reads.set(path, read);
    return read;
  }
}

async function textOf(path: string): Promise<string> {
  const bytes = await buffer(createReadStream(path, { end: LONGEST }));
  if (bytes.length <= LONGEST) return bytes.toString("utf8");
  throw Object.assign(new Error(`${path} is longer than 1 MB`), { code: "EFBIG" });
}
