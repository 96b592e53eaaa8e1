import type fs from "node:fs";
import type v8 from "node:v8";
import { Worker } from "node:worker_threads";
import type zlib from "node:zlib";
import { messageOf } from "@holdfast/kit";
import { type Logger, logSafely } from "../logger.ts";
import type { Line } from "./tape.ts";

/** Tells as much of the world of a program as the lines that it takes, with fewer of them. */
export interface Fold {
  /** Takes the next line; of an earlier snapshot all lines, which end with one of kind `"o"`. */
  take(line: Line): void;
  /** The lines of the snapshot. */
  lines(): readonly Line[];
}

interface SnapshotsOptions {
  readonly directory: string;
  readonly logger: Logger;
  /** Undefined: there are no snapshots. */
  readonly fold: (() => Fold) | undefined;
}

/** The snapshots of a ring: a thread folds the segments before each, and the program never waits for it. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  #isStopped: boolean;
  #worker: Worker | undefined;
  /** The file that has the latest snapshot. */
  #base: string | undefined;
  /** Segments whose lines are in no snapshot. */
  readonly #files: string[] = [];
  /** The latest snapshot, which is in no file yet, and the last segment that it has. */
  #made: { readonly packed: Uint8Array; readonly last: string } | undefined;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#isStopped = options.fold === undefined;
  }

  /** Folds a segment that has ended into the snapshot of the next one, whose number is `segment`. */
  add(file: string, segment: number): void {
    if (this.#isStopped) return;
    this.#files.push(file);
    if (this.#worker !== undefined) {
      this.#lack(segment, new Error("the thread folds an earlier segment"));
      return;
    }
    const workerData: FoldJob = { base: this.#base, files: this.#files, segment };
    const text = textOf(this.#options.fold as () => Fold);
    const worker = new Worker(text, { eval: true, workerData, env: {}, execArgv: [] });
    this.#worker = worker;
    worker.unref();
    worker.once("message", (packed: Uint8Array) => {
      this.#made = { packed, last: file };
    });
    worker.once("error", (error) => this.#lack(segment, error));
    worker.once("exit", () => {
      this.#worker = undefined;
    });
  }

  /** The latest snapshot, once, to be kept in a file: a member of gzip. */
  take(file: string): Uint8Array | undefined {
    const made = this.#made;
    if (made === undefined) return undefined;
    this.#made = undefined;
    this.#base = file;
    this.#files.splice(0, this.#files.indexOf(made.last) + 1);
    return made.packed;
  }

  /** Makes no more snapshots: the program ends, or lines are lost, of which nobody knows what they told. */
  stop(): void {
    this.#isStopped = true;
    this.#made = undefined;
    void this.#worker?.terminate();
  }

  #lack(segment: number, error: unknown): void {
    if (this.#isStopped) return;
    const { directory, logger } = this.#options;
    const isPruned = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (isPruned) this.stop(); // the ring has deleted what no snapshot has
    const details = { directory, segment, problem: messageOf(error) };
    logSafely(logger, "warn", details, "recording lacks a snapshot; the program continues");
  }
}

interface FoldJob {
  /** The file that has the snapshot before. Undefined: there is none, and `files` begin with the process. */
  readonly base: string | undefined;
  /** The segments since that snapshot, in order. */
  readonly files: readonly string[];
  /** The number of the segment that begins with the snapshot. */
  readonly segment: number;
}

/** The program of the thread: a file of its own would be missing in sources and in bundles. */
function textOf(fold: () => Fold): string {
  return `const __name = (named) => named; const { parentPort, workerData } = require("node:worker_threads");
const modules = { ...require("node:fs"), ...require("node:zlib"), ...require("node:v8") };
(${foldFiles})(${fold}, workerData, modules).then((packed) => parentPort.postMessage(packed));`;
}

type Modules = Pick<
  typeof fs & typeof zlib & typeof v8,
  "createReadStream" | "createGunzip" | "gzipSync" | "getHeapStatistics"
>;

/** Runs in the thread: uses nothing of this module. */
async function foldFiles(
  makeFold: () => Fold,
  { base, files, segment }: FoldJob,
  { createReadStream, createGunzip, gzipSync, getHeapStatistics }: Modules,
): Promise<Uint8Array> {
  async function* linesOf(file: string): AsyncGenerator<Line, void, undefined> {
    let bytes: Buffer = Buffer.alloc(0);
    let head: Line | undefined; // its body follows
    const unzipped = createReadStream(file).pipe(createGunzip({ chunkSize: 1024 * 1024 }));
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk]);
      for (let at = 0; ; ) {
        const end = head === undefined ? bytes.indexOf(10, at) : at + Number(head["len"]);
        if (end < 0 || end >= bytes.length) {
          bytes = bytes.subarray(at);
          break;
        }
        const text = bytes.toString("utf8", at, end);
        at = end + 1;
        const line: Line = head === undefined ? JSON.parse(text) : { ...head, body: text };
        head = head === undefined && "len" in line ? line : undefined;
        if (head === undefined) yield line;
      }
    }
  }
  const fold = makeFold();
  let known = "";
  if (base !== undefined)
    for await (const { k, body } of linesOf(base)) if (k === "o") known = `${body}`;
  for (const line of known.split("\n")) if (line !== "") fold.take(JSON.parse(line));
  for (const file of files)
    for await (const line of linesOf(file)) {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      // A thread whose heap is full ends the process, whatever its limits.
      if (used > limit / 2) throw new Error(`the fold takes half of a heap of ${limit} bytes`);
      if (line.k !== "o") fold.take(line);
    }
  const lines = fold.lines().map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
  const len = lines.reduce((sum, { length }) => sum + length, 0) - 1;
  const head = Buffer.from(`${JSON.stringify({ k: "o", segment, len })}\n`);
  return gzipSync(Buffer.concat([head, ...lines]), { level: 1 });
}
