import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Kinds, messageOf, read, requireText, text } from "@holdfast/kit";
import { versionOf } from "@holdfast/kit/node";
import { CONTROLLER, FORMAT, type Head, headOf, NEWLINE, SUFFIX, UP_TO_THE_CUT } from "./head.ts";
import type { Line } from "./tape.ts";

export const OPEN_OPTIONS: Kinds<OpenOptions> = { name: text, identity: text };

/** Chooses one of the recordings of a directory. */
export interface OpenOptions {
  /**
   * The name of the program: the option `name` of `runOperator`.
   *
   * @defaultValue any
   */
  readonly name?: string | undefined;

  /**
   * The name of the process.
   *
   * @defaultValue any
   */
  readonly identity?: string | undefined;
}

/** Recordings of a directory that an error lists. */
const SHOWN = 20;

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

  /** Warns of each package that has another version than when this was recorded. */
  compare(library: NonNullable<Head["library"]>): void {
    for (const [name, version] of Object.entries(library)) {
      const recorded = this.head.library?.[name];
      if (recorded !== undefined && version !== undefined && recorded !== version)
        process.emitWarning(
          `${this.files[0]}: recorded with ${name} ${recorded}, read with ${version}: a replay may differ for that reason`,
          "RecordingWarning",
        );
    }
  }

  /**
   * The lines of all segments, without their heads and snapshots, and with a gap where a segment is missing. A last line
   * that was cut is the end.
   *
   * @param from - the number of the first segment to read
   * @throws Error for damage, with file and line
   */
  *lines(from: number = this.head.segment): Generator<Line, void, undefined> {
    let cut: Line | undefined;
    for (const line of this.#parts(from)) {
      if (cut !== undefined && line.k !== "gap") yield cut;
      cut = line["isCut"] === true ? line : undefined;
      if (cut === undefined) yield line;
    }
  }

  /**
   * The lines that tell what the program has seen of its world: all, or, without the first segment, those of the first
   * snapshot, which end with one of kind `"o"`, and all that follow it. Undefined if there is no snapshot.
   *
   * @throws Error for damage, with file and line
   */
  known(): Iterable<Line> | undefined {
    if (this.head.segment === 1) return this.lines();
    for (const file of this.files)
      for (const { k, segment, body } of linesOf(file))
        if (k === "o" && (segment as number) >= this.head.segment)
          return this.#after(`${body}`, segment as number);
    return undefined;
  }

  *#after(snapshot: string, segment: number): Generator<Line, void, undefined> {
    for (const line of snapshot.split("\n")) yield JSON.parse(line) as Line;
    yield* this.lines(segment);
  }

  *#parts(from: number): Generator<Line, void, undefined> {
    let expected = from;
    for (const file of this.files)
      for (const line of linesOf(file))
        if (line.k === "head" && (line["segment"] as number) < from) break;
        else if (line.k === "o") continue;
        else if (line.k !== "head") yield line;
        else if (line["segment"] === expected) expected += 1;
        else {
          yield { k: "gap", c: `segment ${expected} is missing` };
          expected = (line["segment"] as number) + 1;
        }
  }
}

/**
 * Opens the recording of one process.
 *
 * A directory may have those of several: of programs, of replicas, and of the same program before a restart. Then `options`
 * choose one, or the path of one of its files does.
 *
 * A package of another version than when it was recorded is a warning of the process, by its name: a replay may differ.
 *
 * @param path - a directory of recordings, or a segment
 * @param options - see {@link OpenOptions}
 * @returns the recording. Rejects with an Error if there is none, or if it is damaged; with a RangeError that lists them if
 * there are several, and for a format that is not known
 *
 * @example
 * ```ts no-run
 * import { openRecording } from "@holdfast/controller/recording";
 *
 * const recording = await openRecording("flight/", { name: "website" });
 * console.log(recording.head.identity, recording.files.length);
 * ```
 */
export async function openRecording(path: string, options: OpenOptions = {}): Promise<Recording> {
  requireText("path", path);
  const { name, identity } = read("options", options, "openRecording", OPEN_OPTIONS);
  const isFile = path.endsWith(SUFFIX);
  const all = await runsIn(isFile ? dirname(path) : path);
  const isWanted = ({ head, files }: Run): boolean =>
    (!isFile || files.some((file) => basename(file) === basename(path))) &&
    (name === undefined || head?.name === name) &&
    (identity === undefined || head?.identity === identity);
  const wanted = all.filter(isWanted);
  const readable = wanted.filter(({ head }) => head !== undefined);
  const [run, ...others] = readable.length > 0 ? readable : wanted;
  const whose = [name && ` of ${name}`, identity && ` of the process ${identity}`].join("");
  if (run === undefined)
    throw new Error(
      `openRecording: no recording${whose} in ${path}: ${all.length === 0 ? `its files end in ${SUFFIX}` : `it has ${listOf(all)}`}`,
    );
  if (others.length > 0)
    throw new RangeError(
      `openRecording: ${path} has ${others.length + 1} recordings${whose}: choose one by name and identity, or open one of its files: ${listOf(wanted)}`,
    );
  const recording = new Recording(run.files);
  recording.compare({ [CONTROLLER]: versionOf(CONTROLLER, import.meta.url) });
  return recording;
}

/** The segments of a process. */
interface Run {
  /** Undefined if no segment of it can be read. */
  readonly head: Head | undefined;
  readonly files: string[];
}

/** The recordings in a directory. A file without a head belongs to that which has the file before. */
async function runsIn(directory: string): Promise<Run[]> {
  const runs = new Map<string, Run>();
  const latest = new Map<string, Run>();
  for (const name of readdirSync(directory).toSorted()) {
    if (!name.endsWith(SUFFIX)) continue;
    const file = join(directory, name);
    const process = name.replace(/-\d+\.flight\.gz$/, "");
    const head = await headOf(file);
    const key = head && JSON.stringify([head.name, head.identity, head.seed, head.mono, head.wall]);
    const known = key === undefined ? latest.get(process) : runs.get(key);
    const run = known ?? { head, files: [] };
    run.files.push(file);
    runs.set(key ?? process, run);
    latest.set(process, run);
  }
  return [...new Set(runs.values())];
}

function listOf(runs: readonly Run[]): string {
  const texts = runs.slice(0, SHOWN).map(({ head, files }) => {
    const file = basename(files[0] as string);
    if (head === undefined) return `${file}, which is damaged`;
    const since = new Date(head.wall + head.mono).toISOString();
    return `${JSON.stringify({ name: head.name, identity: head.identity })} since ${since} in ${file}`;
  });
  const more = runs.length > SHOWN ? `; and ${runs.length - SHOWN} more` : "";
  return `${texts.join("; ")}${more}`;
}

/** The lines of a segment, with their bodies. In place of an end that was cut there is a gap. */
function* linesOf(file: string): Generator<Line, void, undefined> {
  const { bytes, isWhole } = bytesOf(file);
  const damaged = (at: number, problem: string, cause?: unknown): Error => {
    const lines = bytes.subarray(0, at).filter((byte) => byte === NEWLINE).length;
    return new Error(`${file}:${lines + 1}: damaged: ${problem}`, { cause });
  };
  let at = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
    const { len = -1, ...line } = parse(bytes.toString("utf8", at, end), (error) =>
      damaged(at, messageOf(error), error),
    );
    at = end + 1;
    const body = bytes.subarray(at, at + Math.max(0, len as number));
    if (len !== -1) at += body.length + 1;
    if (at > bytes.length) break;
    if (bytes[at - 1] !== NEWLINE)
      throw damaged(at - 1, `a body of ${len} bytes does not end here`);
    yield len === -1 ? line : { ...line, ...contentOf(body) };
  }
  if (!isWhole || at !== bytes.length)
    yield { k: "gap", c: `${basename(file)} is cut`, isCut: true };
}

function parse(text: string, damaged: (error: unknown) => Error): Line {
  try {
    return JSON.parse(text) as Line;
  } catch (error) {
    throw damaged(error);
  }
}

function contentOf(body: Buffer): { readonly body: string } | { readonly bytes: string } {
  return isUtf8(body) ? { body: body.toString() } : { bytes: body.toString("base64") };
}

/** A segment, whole or up to where it was cut: a process that is killed does not write its end. */
function bytesOf(file: string): { readonly bytes: Buffer; readonly isWhole: boolean } {
  try {
    const packed = readFileSync(file);
    try {
      return { bytes: gunzipSync(packed), isWhole: true };
    } catch {
      return { bytes: gunzipSync(packed, UP_TO_THE_CUT), isWhole: false };
    }
  } catch (error) {
    throw new Error(`${file}: damaged: ${messageOf(error)}`, { cause: error });
  }
}
