import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const CHUNK = 65_536;

/** The part of a `Buffer` that readers use: published types need none of Node's. */
export interface Bytes extends Uint8Array {
  toString(encoding?: "utf8" | "latin1"): string;
}

/** Options for {@link readBytes}. */
export interface ReadFileOptions {
  /** Whether a pipe or a device is read to its end, which may block for ever. By default only a regular file is. */
  readonly pipes?: boolean;

  /** Longest file, in bytes. By default 1 MB: files that people write are far shorter. */
  readonly longest?: number;
}

/**
 * Reads a file that the user names: never more than a bound, and no pipe that blocks unless it may.
 *
 * @param file - its path; 0 for stdin
 * @throws the error of the file system, or an Error that says why the file is refused
 */
export function readBytes(
  file: string | 0,
  { pipes = false, longest = 1_000_000 }: ReadFileOptions = {},
): Bytes {
  // Without a writer the opening of a pipe would block the whole program.
  const flags = constants.O_RDONLY | (pipes ? 0 : constants.O_NONBLOCK);
  const opened = file === 0 ? 0 : openSync(file, flags);
  try {
    if (!pipes) requireFile(opened);
    const chunks: Buffer[] = [];
    let length = 0;
    for (const chunk of chunksOf(opened)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longest) throw new Error(`it is longer than ${longest / 1_000_000} MB`);
    }
    return Buffer.concat(chunks);
  } finally {
    if (opened !== 0) closeSync(opened);
  }
}

/** As {@link readBytes}, for text. */
export function readText(file: string | 0, options?: ReadFileOptions): string {
  return readBytes(file, options).toString("utf8");
}

/** Reads a regular file of any length in parts, none of which stays. */
export function* readChunks(path: string): Generator<Uint8Array> {
  const opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    yield* chunksOf(opened);
  } finally {
    closeSync(opened);
  }
}

/** Reads the first bytes of a regular file, or with a negative number the last ones. */
export function readPart(path: string, length: number): Bytes {
  const opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    requireFile(opened);
    const { size } = fstatSync(opened);
    const part = Buffer.alloc(Math.min(Math.abs(length), size));
    const read = readSync(opened, part, 0, part.length, length < 0 ? size - part.length : 0);
    return part.subarray(0, read);
  } finally {
    closeSync(opened);
  }
}

/** Collects a stream of bytes; undefined if it has more than `limit`. */
export async function readUpTo(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Bytes | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The reading of a folder fails with an error of its own. */
function requireFile(opened: number): void {
  const found = fstatSync(opened);
  if (!found.isFile() && !found.isDirectory()) throw new Error("it is not a regular file");
}

/** Parts of an open file, to its end. */
function* chunksOf(opened: number): Generator<Buffer> {
  while (true) {
    const chunk = Buffer.alloc(CHUNK);
    const length = readSync(opened, chunk, 0, CHUNK, null);
    if (length === 0) return;
    yield chunk.subarray(0, length);
  }
}
