import type fs from "node:fs";
import type v8 from "node:v8";
import { Worker } from "node:worker_threads";
import type zlib from "node:zlib";
import type { Line } from "./tape.ts";

/** Tells as much of the world of a program as the lines that it takes, with fewer of them. */
export interface Fold {
  /** Takes the next line; of an earlier snapshot all lines, which end with one of kind `"o"`. */
  take(line: Line): void;
  /** The lines of the snapshot. */
  lines(): readonly Line[];
}

/** Segments that become a snapshot. */
interface FoldJob {
  /** The file that has the snapshot before. Undefined: there is none, and `files` begin with the process. */
  readonly base: string | undefined;
  /** The segments since that snapshot, in order. */
  readonly files: readonly string[];
  /** The number of the segment that the snapshot is the begin of. */
  readonly segment: number;
}

/** A worker at work. */
export interface Folding {
  /** Resolves with the line of the snapshot, packed as a member of a segment. Rejects if the worker dies. */
  readonly packed: Promise<Uint8Array>;
  /** Ends the worker. */
  stop(): void;
}

/**
 * Folds segments in a thread of its own.
 *
 * @param fold - its text runs in the thread, since a file of its own would be missing in sources and in bundles. It may use
 * globals only
 */
export function foldInWorker(fold: () => Fold, job: FoldJob): Folding {
  const text = `const __name = (named) => named; const { parentPort, workerData } = require("node:worker_threads");
(${foldFiles})(${fold}, workerData, { ...require("node:fs"), ...require("node:zlib"), ...require("node:v8") }).then((packed) => parentPort.postMessage(packed));`;
  const worker = new Worker(text, { eval: true, workerData: job, env: {}, execArgv: [] });
  worker.unref();
  const packed = new Promise<Uint8Array>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the worker ended with code ${code}`)));
  });
  return { packed, stop: () => void worker.terminate() };
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
    const unzipped = createReadStream(file).pipe(createGunzip({ chunkSize: 1024 * 1024 }));
    let rest: Buffer = Buffer.alloc(0);
    let head: Line | undefined; // its body follows
    const endIn = (bytes: Buffer, at: number): number =>
      head === undefined ? bytes.indexOf(10, at) : at + Number(head["len"]);
    const lineOf = (text: string): Line | undefined => {
      const line: Line = head === undefined ? JSON.parse(text) : { ...head, body: text };
      head = head === undefined && "len" in line ? line : undefined;
      return head === undefined ? line : undefined;
    };
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, chunk]);
      let at = 0;
      for (let end = endIn(bytes, at); end >= 0 && end < bytes.length; end = endIn(bytes, at)) {
        const line = lineOf(bytes.toString("utf8", at, end));
        if (line !== undefined) yield line;
        at = end + 1;
      }
      rest = bytes.subarray(at);
    }
  }
  const fold = makeFold();
  // A thread whose heap is full ends the process, whatever its limits.
  const requireRoom = (): void => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used > limit / 2) throw new Error(`the fold takes half of a heap of ${limit} bytes`);
  };
  let known = "";
  if (base !== undefined)
    for await (const { k, body } of linesOf(base)) if (k === "o") known = `${body}`;
  for (const line of known.split("\n")) if (line !== "") fold.take(JSON.parse(line));
  for (const file of files)
    for await (const line of linesOf(file)) {
      requireRoom();
      if (line.k !== "o") fold.take(line);
    }
  const lines = fold.lines().map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
  const len = lines.reduce((sum, { length }) => sum + length, 0) - 1;
  const head = Buffer.from(`${JSON.stringify({ k: "o", segment, len })}\n`);
  return gzipSync(Buffer.concat([head, ...lines]), { level: 1 });
}
