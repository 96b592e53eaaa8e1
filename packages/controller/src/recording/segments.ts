import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { constants, createGzip, type Gzip } from "node:zlib";
import { type Clock, realClock, type Timer } from "@holdfast/clock";
import { messageOf } from "@holdfast/kit";
import { withTimeout } from "@holdfast/wait";
import { type Logger, logSafely } from "../logger.ts";
import { headOf, NEWLINE, SUFFIX } from "./head.ts";
import { type Fold, Snapshots } from "./snapshots.ts";
import type { Line } from "./tape.ts";

/** Lines that wait for a slow disk, in bytes: with more they are given up. */
const MOST_WAITING: number = 8 * 1024 * 1024;

/** Lines that are written before their time, in bytes. */
const MANY = 1024 * 1024;

/** Size of the blocks in which lines wait, in bytes. */
const BLOCK = 256 * 1024;

/** Time that a disk has at the end, in milliseconds. */
const LAST = 1_000;

/** Longest part of the name of a file that is the name of a program or a process. */
const LONGEST = 100;

/** Options for {@link Segments}, with their defaults. */
export interface SegmentsOptions {
  readonly directory: string;
  readonly name: string;
  readonly identity: string;
  readonly maxBytes: number;
  readonly segmentBytes: number;
  readonly segmentTime: number;
  readonly flushInterval: number;
  readonly clock: Clock;
  /** The clock of the disk, which takes real time also on a fake clock. */
  readonly diskClock?: Clock;
  readonly logger: Logger;
  /** The first line of a segment. */
  readonly head: (segment: number) => Line;
  /** Makes the snapshots, in a worker. Default: there are none. */
  readonly fold?: (() => Fold) | undefined;
}

/**
 * A ring of files. A disk that is full, slow or away loses lines, which a line tells in the file that comes next: it never
 * delays the program.
 */
export class Segments {
  readonly #options: SegmentsOptions;
  #lines = new Lines();
  /** Lines that were given up since the last one that was written. */
  #lost = 0;
  /** Lines that are being written. */
  #inFlight = 0;
  /** Why the latest lines were given up; undefined while all are written. */
  #problem: string | undefined;
  #segment: Segment | undefined;
  /** Segments that have a head. */
  #number = 0;
  /** The number of the latest file: one of an earlier process may have the same name. */
  #file = 0;
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isClosed = false;
  readonly #snapshots: Snapshots;

  constructor(options: SegmentsOptions) {
    this.#options = options;
    const { directory, logger, fold } = options;
    this.#snapshots = new Snapshots({ directory, logger, fold });
  }

  /** Writes a line, soon, and after it a body of `len` bytes: most of a recording, which nobody has to parse. */
  write(line: Line, body?: Uint8Array): void {
    if (this.#isClosed) return;
    this.#lines.add(line, body);
    if (this.#lines.bytes > MOST_WAITING) this.#giveUp(new Error("the disk is too slow"));
    if (this.#flushing !== undefined) return;
    if (this.#lines.bytes > MANY) void this.flush();
    else this.#arm();
  }

  /** Writes all lines. Resolves when that is done, or has failed. */
  flush(): Promise<void> {
    this.#timer?.stop();
    if (this.#flushing !== undefined) return this.#flushing;
    const { clock } = this.#options;
    const began = clock.monotonic();
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined;
      if (this.#lines.count > 0) this.#arm(clock.monotonic() - began); // they have waited as long
    });
    return this.#flushing;
  }

  /**
   * Writes all lines, and closes the last segment. A disk that hangs has a second; a line of the log tells what it has not
   * got.
   */
  async close(): Promise<void> {
    const { directory, logger, diskClock: clock = realClock } = this.#options;
    this.#isClosed = true;
    this.#snapshots.stop();
    await withTimeout(() => this.#close(), LAST, { clock, label: "recording end" }).catch(() => {
      this.#problem ??= `the disk did not answer for ${LAST} ms`;
    });
    const lines = this.#lost + this.#inFlight + this.#lines.count;
    this.#lines.take();
    this.#timer?.stop();
    if (lines === 0) return;
    const details = { directory, lines, problem: this.#problem };
    logSafely(logger, "warn", details, "recording lacks its end; the program ends");
  }

  async #close(): Promise<void> {
    await this.#flushing;
    if (this.#lines.count > 0) await this.flush();
    await this.#attempt(async () => await this.#end());
  }

  #arm(waited = 0): void {
    const { clock, flushInterval } = this.#options;
    if (this.#timer?.active === true) return;
    const left = Math.max(0, flushInterval - waited);
    const fire = (): void => void this.flush();
    if (this.#timer !== undefined) this.#timer.reset(left);
    else this.#timer = clock.afterFunc(left, fire, { ref: false, label: "recording flush" });
  }

  async #flush(): Promise<void> {
    await this.#attempt(async () => {
      const { clock, segmentBytes, segmentTime } = this.#options;
      const segment = this.#segment ?? (await this.#begin());
      const lost = this.#lost;
      const gap = lost > 0 ? [lineOf({ k: "gap", lost })] : [];
      this.#inFlight = this.#lines.count;
      await segment.append(...gap, ...this.#lines.take());
      this.#inFlight = 0;
      this.#lost -= lost; // more may have been given up meanwhile
      if (this.#lost === 0) this.#problem = undefined;
      const snapshot = this.#snapshots.take(segment.path);
      if (snapshot !== undefined) await segment.appendPacked(snapshot);
      const isOld = clock.monotonic() - segment.begun >= segmentTime;
      const lines = segment.bytes - segment.packed; // at least as many as of its snapshot
      if (lines >= segment.packed && (isOld || lines >= segmentBytes)) await this.#end();
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#lost += this.#inFlight;
      this.#inFlight = 0;
      this.#giveUp(error);
      const segment = this.#segment;
      this.#segment = undefined;
      await segment?.abandon();
    }
  }

  #giveUp(error: unknown): void {
    this.#lost += this.#lines.count;
    this.#lines.take();
    this.#snapshots.stop(); // of the world after a gap nothing is known
    const isKnown = this.#problem !== undefined || this.#isClosed;
    this.#problem = messageOf(error);
    if (isKnown) return;
    const { directory, logger } = this.#options;
    const details = { directory, problem: this.#problem };
    logSafely(logger, "warn", details, "recording has a gap; the program continues");
  }

  async #begin(): Promise<Segment> {
    const { clock, head } = this.#options;
    const segment = await this.#open(clock.monotonic());
    this.#segment = segment;
    await segment.append(lineOf(head(this.#number + 1)));
    this.#number += 1;
    return segment;
  }

  async #open(begun: number): Promise<Segment> {
    const { directory, name, identity } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (;;) {
      this.#file += 1;
      const number = String(this.#file).padStart(6, "0");
      const path = join(directory, `${nameIn(name)}-${nameIn(identity)}-${number}${SUFFIX}`);
      try {
        return new Segment(path, await open(path, "wx", 0o600), begun);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  }

  async #end(): Promise<void> {
    const segment = this.#segment;
    await segment?.end();
    this.#segment = undefined;
    if (segment !== undefined) this.#snapshots.add(segment.path, this.#number + 1);
    await this.#prune();
  }

  /** Deletes the oldest segments of this name, which may be those of an earlier process. */
  async #prune(): Promise<void> {
    const { directory, name, maxBytes } = this.#options;
    const files = (await readdir(directory)).filter((file) => file.endsWith(SUFFIX));
    const found = await Promise.all(
      files.map(async (file) => {
        const path = join(directory, file);
        const facts = await stat(path).catch(() => undefined); // another process deletes too
        return { path, size: facts?.size ?? 0, mtimeMs: facts?.mtimeMs ?? 0 };
      }),
    );
    let sum = 0;
    const newest = found.toSorted(
      (one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? 1 : -1),
    );
    for (const { path, size } of newest) {
      if ((await headOf(path))?.name !== name) continue; // a file that is damaged stays
      sum += size;
      if (sum > maxBytes) await rm(path, { force: true });
    }
  }
}

function lineOf(line: Line): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** A name as a part of that of a file. */
function nameIn(text: string): string {
  return text.replaceAll(/[^\w.-]/g, "_").slice(0, LONGEST);
}

/** Lines that wait, as bytes: a text that lives for a second is copied by each collection of garbage. */
class Lines {
  count = 0;
  #block = Buffer.allocUnsafe(BLOCK);
  #used = 0;
  #full: Buffer[] = [];
  #fullBytes = 0;

  get bytes(): number {
    return this.#fullBytes + this.#used;
  }

  add(line: Line, body: Uint8Array | undefined): void {
    this.count += 1;
    const text = JSON.stringify(line);
    const most = text.length * 3 > BLOCK ? Buffer.byteLength(text) : text.length * 3;
    this.#reserve(most + 2 + (body?.length ?? 0));
    this.#used += this.#block.write(text, this.#used);
    this.#block[this.#used++] = NEWLINE;
    if (body === undefined) return;
    this.#block.set(body, this.#used);
    this.#used += body.length;
    this.#block[this.#used++] = NEWLINE;
  }

  #reserve(most: number): void {
    if (this.#used + most <= this.#block.length) return;
    this.#full.push(this.#block.subarray(0, this.#used));
    this.#fullBytes += this.#used;
    this.#block = Buffer.allocUnsafe(Math.max(BLOCK, most));
    this.#used = 0;
  }

  /** All lines, which wait no longer. */
  take(): readonly Buffer[] {
    const all = [...this.#full, this.#block.subarray(0, this.#used)];
    this.count = 0;
    this.#block = this.#block.subarray(this.#used); // what was taken is not written over
    this.#used = 0;
    this.#full = [];
    this.#fullBytes = 0;
    return all;
  }
}

/** One file. After each write a reader finds all lines in it. */
class Segment {
  /** Bytes on disk. */
  bytes = 0;
  /** Those of its snapshot. */
  packed = 0;
  /** Monotonic instant of its begin. */
  readonly begun: number;
  readonly path: string;
  readonly #handle: FileHandle;
  #chunks: Uint8Array[] = [];
  #error: Error | undefined;
  #gzip: Gzip = this.#zip();

  constructor(path: string, handle: FileHandle, begun: number) {
    this.path = path;
    this.#handle = handle;
    this.begun = begun;
  }

  /** Begins a member: a file of gzip has one or more. */
  #zip(): Gzip {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    gzip.on("data", (chunk: Buffer) => this.#chunks.push(chunk));
    gzip.on("error", (error) => {
      this.#error = error;
    });
    return gzip;
  }

  async append(...parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) this.#gzip.write(part);
    await new Promise<void>((resolve) => this.#gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    await this.#drain();
  }

  /** Appends a member that is packed already. */
  async appendPacked(packed: Uint8Array): Promise<void> {
    await this.#endMember();
    this.#gzip = this.#zip();
    this.#chunks.push(packed);
    await this.#drain();
    this.packed += packed.length;
  }

  async end(): Promise<void> {
    await this.#endMember();
    await this.#handle.close();
  }

  async #endMember(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#gzip.once("close", resolve);
      this.#gzip.end();
    });
    await this.#drain();
  }

  /** Leaves what a reader can read. Never rejects: the disk has failed. */
  async abandon(): Promise<void> {
    this.#gzip.destroy();
    await this.#handle.truncate(this.bytes).catch(() => {});
    await this.#handle.close().catch(() => {});
    if (this.bytes === 0) await rm(this.path, { force: true }).catch(() => {});
  }

  async #drain(): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    await this.#handle.appendFile(bytes);
    this.bytes += bytes.length;
  }
}
