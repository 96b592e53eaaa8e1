import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import { messageOf, requireText } from "@holdfast/kit";
import { FORMAT } from "./recorder.ts";
import { SUFFIX } from "./segments.ts";
import type { Line } from "./tape.ts";

/** The first line of each segment. */
export interface Head extends Line {
  /** Always `"head"`. */
  readonly k: "head";
  /** The version of the format. */
  readonly v: number;
  /** The name of the program. */
  readonly name: string;
  /** The name of the process. */
  readonly identity: string;
  /** The number of the segment, from 0. */
  readonly segment: number;
  /** The seed of the chance of the program. */
  readonly seed: number;
  /** The monotonic time at its start, in milliseconds. */
  readonly mono: number;
  /** The wall clock minus the monotonic one, in milliseconds. */
  readonly wall: number;
  /** The milliseconds from which a later read of the clock is noted. */
  readonly grid: number;
  /** What a replay must know beside the inputs. */
  readonly program: unknown;
}

const NUMBERED = /^(.*)-(\d{6})\.flight\.gz$/;

/** A recording of one process: its segments in order. */
export class Recording {
  /** Paths of its segments. */
  readonly files: readonly string[];
  /** The head of its first segment. */
  readonly head: Head;

  /** @throws RangeError for a format that is not known; Error for a damaged file */
  constructor(files: readonly string[]) {
    this.files = files;
    const [first] = files;
    const { value: head } = linesOf(first as string).next();
    if (head?.k !== "head")
      throw new Error(
        `${first}:1: damaged: a recording begins with its head, got ${head?.k ?? "no line"}`,
      );
    if (head["v"] !== FORMAT)
      throw new RangeError(
        `${first}: format ${head["v"]} is not known: this version reads format ${FORMAT}`,
      );
    this.head = head as Head;
  }

  /**
   * The lines of all segments, without their heads, and with a gap where a segment is missing. A last line that was cut
   * is the end.
   *
   * @throws Error for damage, with file and line
   */
  *lines(): Generator<Line, void, undefined> {
    let expected = this.head.segment;
    for (const file of this.files)
      for (const line of linesOf(file))
        if (line.k !== "head") yield line;
        else if (line["segment"] === expected) expected += 1;
        else {
          yield { k: "gap", segment: expected };
          expected = (line["segment"] as number) + 1;
        }
  }
}

/**
 * Opens the recording of a process.
 *
 * @param path - a directory of recordings, or a segment
 * @param identity - the process, if a directory has recordings of several. Default: the one that was written last
 * @returns the recording. Rejects with an Error if there is none, or if it is damaged
 *
 * @example
 * ```ts no-run
 * import { openRecording } from "@holdfast/controller/recording";
 *
 * const recording = await openRecording("flight/");
 * console.log(recording.head.name, recording.files.length);
 * ```
 */
export async function openRecording(path: string, identity?: string): Promise<Recording> {
  requireText("path", path);
  if (identity !== undefined) requireText("identity", identity);
  const isFile = path.endsWith(SUFFIX);
  const directory = isFile ? dirname(path) : path;
  const [, only] = (isFile && NUMBERED.exec(basename(path))) || [];
  const isWanted = (process: string): boolean =>
    only === undefined
      ? identity === undefined || process.endsWith(`-${identity}`)
      : process === only;
  const [latest] = processesIn(directory, isWanted);
  if (latest !== undefined) return new Recording(latest);
  const whose = identity === undefined ? "" : ` of ${identity}`;
  throw new Error(`openRecording: no recording${whose} in ${path}: its files end in ${SUFFIX}`);
}

/** The segments of each process, the process that wrote last first. */
function processesIn(directory: string, isWanted: (process: string) => boolean): string[][] {
  const processes = new Map<string, string[]>();
  for (const file of readdirSync(directory).toSorted()) {
    const [, process] = NUMBERED.exec(file) ?? [];
    if (process === undefined || !isWanted(process)) continue;
    processes.set(process, [...(processes.get(process) ?? []), join(directory, file)]);
  }
  const writtenAt = (files: readonly string[]): number => statSync(files.at(-1) as string).mtimeMs;
  return [...processes.values()].toSorted((one, other) => writtenAt(other) - writtenAt(one));
}

function* linesOf(file: string): Generator<Line, void, undefined> {
  const texts = textOf(file).split("\n");
  texts.pop(); // what follows the last newline was cut
  for (const [at, text] of texts.entries()) {
    try {
      yield JSON.parse(text) as Line;
    } catch (error) {
      throw new Error(`${file}:${at + 1}: damaged: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** The text of a segment, up to its end or to where it was cut. */
function textOf(file: string): string {
  try {
    return gunzipSync(readFileSync(file), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  } catch (error) {
    throw new Error(`${file}: damaged: ${messageOf(error)}`, { cause: error });
  }
}
