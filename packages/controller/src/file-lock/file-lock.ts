import { constants } from "node:fs";
import { link, mkdir, open, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, realClock } from "@holdfast/clock";
import { func, type Kinds, loopClock, read, requireText, uuidFrom } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { isLeaseRecord, type LeaseRecord } from "../election/lease-record.ts";
import { LockConflictError } from "../election/lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "../election/resource-lock.ts";

export const FILE_LOCK_OPTIONS: Kinds<FileLockOptions> = {
  clock: loopClock,
  random: func,
};

/** Options for a {@link FileLock}. */
export interface FileLockOptions {
  /**
   * Supplies the first token.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of the ids of versions. Give it in a test, each process its own: two processes with the same ids take each
   * other's writes for their own.
   *
   * @defaultValue ids of the platform's cryptographic source
   */
  readonly random?: Random | undefined;
}

/** A version that no other can follow: the next number is not exact. */
const LAST_VERSION = Number.MAX_SAFE_INTEGER - 1;

/** Longest record in bytes. */
const MAX_RECORD = 4_096;

/**
 * A link leads elsewhere, and a pipe blocks the thread that opens it: neither is a record. Windows has neither flag:
 * undefined counts as 0 there.
 */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Names of the files that a lock writes. It ignores other files in the directory. */
const OWN_NAME = /^([1-9]\d*)\.(json|[\da-f-]{36}\.draft)$/;

/**
 * A lock between the processes of one machine: a directory with one file per version of the record.
 * The highest version counts.
 *
 * A write creates a draft and then a hard link to it under the name of the version. The system creates
 * the link atomically, and only if the name is free. So a process killed at any moment leaves a
 * complete version or none, and blocks others for no longer than its lease. The next write removes its
 * leftovers.
 *
 * The directory must be on a local file system with hard links, such as ext4, xfs, btrfs, tmpfs,
 * overlayfs, APFS or NTFS. FAT and exFAT have none. Network file systems such as NFS and SMB are
 * unsafe: a machine may see the writes of another machine late.
 *
 * The directory must belong to the user of the processes, and nobody else may write into it: who can write there can take
 * the lock, or block it. The lock creates it with mode 0700. A record is a regular file of at most 4,096 bytes; anything
 * else under the name of a version is an error.
 *
 * Records are flushed to the disk before they count, but their names are not. After a power failure the
 * latest version may be missing, and tokens may continue from an earlier one. A directory that was emptied, for example
 * on tmpfs by a reboot, begins with the milliseconds of the clock as its token.
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join, resolve } from "node:path";
 * import { isLockConflictError } from "@holdfast/controller";
 * import { FileLock } from "@holdfast/controller/file-lock";
 *
 * const directory = await mkdtemp(join(tmpdir(), "leader-"));
 * const lock = new FileLock(directory);
 * const { signal } = new AbortController();
 * const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 0, renewedAt: 0, transitions: 0 };
 * const { version } = await lock.create(record, signal);
 * await lock.update({ ...record, renewedAt: 2_000 }, version, signal);
 * const late = await lock.update(record, version, signal).catch((error) => error);
 * console.log((await lock.get(signal))?.record.renewedAt, isLockConflictError(late)); // => 2000 true
 * await rm(directory, { recursive: true });
 * ```
 */
export class FileLock implements ResourceLock {
  readonly description: string;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #random: Random | undefined;
  #firstToken = 0;

  /**
   * @param directory - path of a directory for this lock alone; created with the first record. A relative
   * path is resolved now: a later `process.chdir` does not move the lock
   * @param options - see {@link FileLockOptions}
   * @throws TypeError for an argument of the wrong type, RangeError if `directory` is empty
   */
  constructor(directory: string, options: FileLockOptions = {}) {
    requireText("directory", directory);
    const given = read("options", options, "FileLock", FILE_LOCK_OPTIONS);
    const { clock = realClock, random } = given;
    this.#clock = clock;
    this.#random = random;
    this.#directory = resolve(directory);
    this.description = `file ${this.#directory}`;
  }

  /** Smallest token of a term in an empty directory: milliseconds since the epoch at the last such `get`. */
  get firstToken(): number {
    return this.#firstToken;
  }

  /**
   * Reads the record.
   *
   * @param signal - aborts the request before it begins
   * @returns the record of the highest version; undefined if there is none
   * @throws Error if the file holds no record, cannot be read, or has a version that no other can follow
   */
  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    let missing = 0;
    for (;;) {
      signal.throwIfAborted();
      const number = highest(await this.#names());
      if (number === 0) {
        this.#firstToken = Math.max(Math.floor(this.#clock.now()), 0);
        return undefined;
      }
      if (number >= LAST_VERSION)
        throw new Error(`${this.#file(number)} has the last version of a lock: remove it`);
      try {
        return await this.#read(number);
      } catch (error) {
        // Two later versions were written meanwhile, and this one was removed. A name that is still the
        // highest was not removed: it is a dangling link.
        if (!hasCode(error, "ENOENT") || number === missing) throw error;
        missing = number;
      }
    }
  }

  /**
   * Writes the first record, and creates the directory if necessary.
   *
   * @param record - the new record
   * @param signal - aborts the request before the record counts
   * @throws LockConflictError if there is a record
   */
  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    signal.throwIfAborted();
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return await this.#replace(undefined, record, signal);
  }

  /**
   * Replaces the record, if it still has `version`.
   *
   * @param record - the new record
   * @param version - version of the record to replace
   * @param signal - aborts the request before the record counts
   * @throws LockConflictError if the record has changed since it was read
   */
  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    return await this.#replace(version, record, signal);
  }

  async #replace(
    version: string | undefined,
    record: LeaseRecord,
    signal: AbortSignal,
  ): Promise<Versioned> {
    signal.throwIfAborted();
    const latest = version === undefined ? 0 : Number.parseInt(version, 10);
    if (highest(await this.#names()) !== latest) throw new LockConflictError(this.description);
    const next = latest + 1;
    const id = uuidFrom(this.#random);
    const draft = join(this.#directory, `${next}.${id}.draft`);
    const text = JSON.stringify({ ...record, id });
    if (Buffer.byteLength(text) > MAX_RECORD)
      throw new RangeError(
        `record must be at most ${MAX_RECORD} bytes as JSON: choose a shorter holder`,
      );
    try {
      await writeThrough(draft, text);
      signal.throwIfAborted();
      if (version !== undefined) await this.#requireSame(version, latest);
      await this.#publish(draft, next);
    } finally {
      await removeAll([draft]);
    }
    return { record, version: versionOf(next, id) };
  }

  /**
   * Numbers start over when the directory is removed or replaced. This check notices that; a later
   * replacement is noticed because the draft is not in the new directory.
   */
  async #requireSame(version: string, number: number): Promise<void> {
    try {
      if ((await this.#read(number)).version === version) return;
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
    throw new LockConflictError(this.description);
  }

  async #read(number: number): Promise<Versioned> {
    const file = this.#file(number);
    const { record, id } = fileRecordOf(await readRecord(file), file);
    return { record, version: versionOf(number, id) };
  }

  /**
   * Old versions are removed, so their names become free. A process that was paused may take such a
   * name, but then finds a higher version: the highest is never removed.
   */
  async #publish(draft: string, version: number): Promise<void> {
    const file = this.#file(version);
    try {
      await link(draft, file);
    } catch (error) {
      if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT"))
        throw new LockConflictError(this.description);
      throw error;
    }
    const names = await this.#names();
    if (highest(names) !== version) {
      await rm(file, { force: true });
      throw new LockConflictError(this.description);
    }
    await this.#removeOld(names, version);
  }

  /** Keeps the previous version, so that a listing made during a replacement shows one of the two. */
  async #removeOld(names: readonly string[], version: number): Promise<void> {
    const old = names.filter((name) => {
      const [, number, kind] = OWN_NAME.exec(name) ?? [];
      return Number(number) < (kind === "json" ? version - 1 : version);
    });
    await removeAll(old.map((name) => join(this.#directory, name)));
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  #file(version: number): string {
    return join(this.#directory, `${version}.json`);
  }
}

function versionOf(number: number, id: string | undefined): string {
  return id === undefined ? `${number}` : `${number}.${id}`;
}

/** Cleans up. A file that cannot be removed now is removed after a later write. */
async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.allSettled(files.map((file) => rm(file, { force: true })));
}

/** Highest version among the file names in a directory; 0 if there is none. */
function highest(names: readonly string[]): number {
  return names.reduce((version, name) => Math.max(version, versionIn(name)), 0);
}

/** Version in the name of a file; 0 if it has none. No lock writes a number that is not exact. */
function versionIn(name: string): number {
  const version = Number(/^([1-9]\d*)\.json$/.exec(name)?.[1] ?? 0);
  return Number.isSafeInteger(version) ? version : 0;
}

/** @throws Error if the file is not a regular one, or longer than a record */
async function readRecord(file: string): Promise<string> {
  const handle = await open(file, READ);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_RECORD)
      throw new Error(`${file} does not contain a lease record`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_RECORD), 0, MAX_RECORD, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function writeThrough(file: string, text: string): Promise<void> {
  const handle = await open(file, "wx");
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** Content of a file. */
interface FileRecord {
  readonly record: LeaseRecord;
  /** Unique to this file; undefined in a file of an earlier release. */
  readonly id: string | undefined;
}

/**
 * Parses a file.
 *
 * @throws Error if the file holds no record: treating it as a free lease could make two leaders
 */
function fileRecordOf(text: string, file: string): FileRecord {
  const { id, ...record } = (parse(text) ?? {}) as { readonly id?: string };
  if (!isLeaseRecord(record)) throw new Error(`${file} does not contain a lease record`);
  return { record, id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
