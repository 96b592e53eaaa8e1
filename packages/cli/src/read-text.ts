import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Longest text, in bytes: manifests and files of variables are far shorter. */
const LONGEST = 1_000_000;
const CHUNK = 65_536;

/** What of a path may be read. */
export interface ReadTextOptions {
  /** Whether pipes and devices are read to their end, too, which may take for ever. */
  readonly pipes: boolean;
}

/**
 * Reads a file that the user names, of at most 1 MB.
 *
 * @param file - its path; 0 for stdin
 * @throws the error of the file system, or an Error that says why the text is refused
 */
export function readText(file: string | 0, { pipes }: ReadTextOptions): string {
  // Without a writer the opening of a pipe would block the whole program.
  const flags = constants.O_RDONLY | (pipes ? 0 : constants.O_NONBLOCK);
  const opened = file === 0 ? 0 : openSync(file, flags);
  try {
    const found = fstatSync(opened);
    if (!pipes && !found.isFile() && !found.isDirectory())
      throw new Error("it is not a regular file");
    const chunks: Buffer[] = [];
    for (let length = 0; length <= LONGEST; ) {
      const chunk = Buffer.alloc(CHUNK);
      const read = readSync(opened, chunk, 0, CHUNK, null);
      if (read === 0) return Buffer.concat(chunks).toString("utf8");
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    throw new Error("it is longer than 1 MB");
  } finally {
    if (opened !== 0) closeSync(opened);
  }
}
