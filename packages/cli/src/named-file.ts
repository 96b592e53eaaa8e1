import { createReadStream, fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { type Clock, onAbort } from "@holdfast/clock";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { fileState, readFile } from "./system-call.ts";

/** How long a file system may take to say what is at a path, in milliseconds. */
const PATIENCE = 5_000;

/** Options for {@link readNamed}. */
export interface NamedFileOptions {
  readonly clock: Clock;
  /** Time limit, in milliseconds. By default there is none. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Whether a pipe or a device is read to its end. By default only a regular file is. */
  readonly pipes?: boolean;
  /** Longest file, in bytes. By default 1 MB: files that people write are far shorter. */
  readonly longest?: number;
}

/**
 * Reads a file that the user names. It may be on a file system that hangs, or a pipe without a writer: neither keeps this
 * process or a thread of it.
 *
 * @param file - its path; `-` for stdin, which can be read once
 * @throws the error of the file system; an Error that says why the file is refused; `signal.reason`; a TimeoutError
 */
export async function readNamed(
  file: string,
  {
    clock,
    timeout = Number.POSITIVE_INFINITY,
    signal,
    pipes = false,
    longest = 1_000_000,
  }: NamedFileOptions,
): Promise<Buffer> {
  const fd = descriptorOf(file);
  // Node takes it for an empty stdin.
  if (fd !== undefined && fstatSync(fd).isDirectory()) throw new Error("it is a directory");
  const read = (own: AbortSignal): Promise<Buffer> => {
    if (fd === undefined) return readFile(file, { pipes, longest });
    return readStream(fd === 0 ? process.stdin : streamOf(fd), longest, own);
  };
  return await withTimeout(read, timeout, { clock, signal });
}

/**
 * Whether a file system does not say in time what is at a path: a start of the program there, or in that folder, would hold
 * this process up, and only the system could end it.
 *
 * @throws `signal.reason`
 */
export async function isSilent(path: string, clock: Clock, signal?: AbortSignal): Promise<boolean> {
  try {
    await withTimeout(() => fileState(path), PATIENCE, { clock, signal });
  } catch (error) {
    signal?.throwIfAborted();
    return isTimeoutError(error);
  }
  return false;
}

/** The open file of this process that a path names, as that of `<(…)` in a shell. */
export function descriptorOf(file: string): number | undefined {
  if (file === "-" || file === "/dev/stdin") return 0;
  const [, digits] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(file) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** A pipe is read as a socket is: without a thread, which it could keep. */
function streamOf(fd: number): Readable {
  const isPipe = fstatSync(fd).isFIFO() || fstatSync(fd).isSocket();
  return isPipe ? new Socket({ fd }) : createReadStream("", { fd });
}

async function readStream(stream: Readable, longest: number, signal: AbortSignal): Promise<Buffer> {
  using _ = onAbort(signal, () => stream.destroy());
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > longest) throw new Error(`it is longer than ${longest / 1_000_000} MB`);
  }
  return Buffer.concat(chunks);
}
