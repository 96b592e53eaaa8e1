import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { constants, createGzip, gunzipSync } from "node:zlib";
import type { Clock, Timer } from "@holdfast/clock";
import { messageOf } from "@holdfast/kit";
import { type Logger, logSafely } from "../logger.ts";
import type { Line } from "./tape.ts";

/** End of the names of all segments. */
export const SUFFIX = ".flight.gz";

/** Lines that wait for a slow disk, in bytes: with more they are given up. */
const MOST_WAITING: number = 8 * 1024 * 1024;

/** Lines that are written before their time, in bytes. */
const MANY = 1024 * 1024;

/** Size of the blocks in which lines wait, in bytes. */
const BLOCK = 256 * 1024;

/** The bytes of a segment that have the name of its program. */
const BEGIN = 4_096;

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
  readonly logger: Logger;
  /** The first line of a segment. */
  readonly head: (segment: number) => Line;
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
  #hasFailed = false;
  #segment: Segment | undefined;
  #number = 0;
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;

  constructor(options: SegmentsOptions) {
    this.#options = options;
  }

  /** Writes a line, soon. */
  write(line: Line): void {
    this.#lines.add(`${JSON.stringify(line)}\n`);
    if (this.#lines.bytes > MOST_WAITING) this.#giveUp(new Error("the disk is too slow"));
    if (this.#flushing !== undefined) return;
    if (this.#lines.bytes > MANY) void this.flush();
    else this.#arm();
  }

  /** Writes all lines. Resolves when that is done, or has failed. */
  flush(): Promise<void> {
    this.#timer?.stop();
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
      if (this.#lines.count > 0) this.#arm();
    });
    return this.#flushing;
  }

  /** Writes all lines, and closes the last segment. */
  async close(): Promise<void> {
    await this.#flushing;
    if (this.#lines.count > 0) await this.flush();
    this.#timer?.stop();
    await this.#attempt(async () => await this.#end());
  }

  #arm(): void {
    const { clock, flushInterval } = this.#options;
    if (this.#timer?.active === true) return;
    const fire = (): void => void this.flush();
    if (this.#timer !== undefined) this.#timer.reset(flushInterval);
    else
      this.#timer = clock.afterFunc(flushInterval, fire, { ref: false, label: "recording flush" });
  }

  async #flush(): Promise<void> {
    await this.#attempt(async () => {
      const { clock, segmentBytes, segmentTime } = this.#options;
      this.#segment ??= await this.#begin();
      const segment = this.#segment;
      const gap = `${JSON.stringify({ k: "gap", lost: this.#lost })}\n`;
      this.#inFlight = this.#lines.count;
      const lines = this.#lines.take();
      if (this.#lost > 0) await segment.append(Buffer.from(gap));
      await segment.append(lines);
      this.#inFlight = 0;
      this.#lost = 0;
      this.#hasFailed = false;
      const isOld = clock.monotonic() - segment.begun >= segmentTime;
      if (isOld || segment.bytes >= segmentBytes) await this.#end();
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
      await segment?.end().catch(() => {});
    }
  }

  #giveUp(error: unknown): void {
    this.#lost += this.#lines.count;
    this.#lines.take();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { directory, logger } = this.#options;
    const details = { directory, problem: messageOf(error) };
    logSafely(logger, "warn", details, "recording has a gap; the program continues");
  }

  async #begin(): Promise<Segment> {
    const { directory, name, identity, clock, head } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const number = ++this.#number;
    const file = `${name}-${identity}-${String(number).padStart(6, "0")}${SUFFIX}`;
    const handle = await open(join(directory, file), "wx", 0o600);
    const segment = new Segment(handle, clock.monotonic());
    await segment.append(Buffer.from(`${JSON.stringify(head(number))}\n`));
    return segment;
  }

  async #end(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    await segment?.end();
    await this.#prune();
  }

  /** Deletes the oldest segments of this name, which may be those of an earlier process. */
  async #prune(): Promise<void> {
    const { directory, name, maxBytes } = this.#options;
    const files = (await readdir(directory)).filter(
      (file) => file.startsWith(`${name}-`) && file.endsWith(SUFFIX),
    );
    const found = await Promise.all(
      files.map(async (file) => {
        const path = join(directory, file);
        const { size, mtimeMs } = await stat(path);
        return { path, size, mtimeMs };
      }),
    );
    let sum = 0;
    const newest = found.toSorted(
      (one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? 1 : -1),
    );
    for (const { path, size } of newest) {
      if (!(await isOf(name, path))) continue;
      sum += size;
      if (sum > maxBytes) await rm(path, { force: true });
    }
  }
}

/** Whether a segment is of a program. Its path does not tell: `dns-sync-a-000001` may be of `dns`, or of `dns-sync`. */
async function isOf(name: string, path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGIN), 0, BEGIN, 0);
    const whole = { finishFlush: constants.Z_SYNC_FLUSH };
    const text = gunzipSync(buffer.subarray(0, bytesRead), whole).toString();
    return text.includes(`,"name":${JSON.stringify(name)},`);
  } catch {
    return false; // a file that is damaged stays
  } finally {
    await handle.close();
  }
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

  add(line: string): void {
    this.count += 1;
    const most = line.length * 3 > BLOCK ? Buffer.byteLength(line) : line.length * 3;
    if (this.#used + most > this.#block.length) {
      this.#full.push(this.#block.subarray(0, this.#used));
      this.#fullBytes += this.#used;
      this.#block = Buffer.allocUnsafe(Math.max(BLOCK, most));
      this.#used = 0;
    }
    this.#used += this.#block.write(line, this.#used);
  }

  /** All lines, which wait no longer. */
  take(): Buffer {
    const all = Buffer.concat([...this.#full, this.#block.subarray(0, this.#used)]);
    this.count = 0;
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
  /** Monotonic instant of its begin. */
  readonly begun: number;
  readonly #handle: FileHandle;
  readonly #gzip = createGzip({ level: constants.Z_BEST_SPEED });
  #chunks: Buffer[] = [];
  #error: Error | undefined;

  constructor(handle: FileHandle, begun: number) {
    this.#handle = handle;
    this.begun = begun;
    this.#gzip.on("data", (chunk: Buffer) => this.#chunks.push(chunk));
    this.#gzip.on("error", (error) => {
      this.#error = error;
    });
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#gzip.write(bytes);
    await new Promise<void>((resolve) => this.#gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    await this.#drain();
  }

  async end(): Promise<void> {
    try {
      await new Promise<void>((resolve) => {
        this.#gzip.once("close", resolve);
        this.#gzip.end();
      });
      await this.#drain();
    } finally {
      await this.#handle.close();
    }
  }

  async #drain(): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    await this.#handle.appendFile(bytes);
    this.bytes += bytes.length;
  }
}
