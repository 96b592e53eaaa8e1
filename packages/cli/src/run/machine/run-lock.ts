import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processState } from "./proc.ts";

/** A running supervisor, as it says of itself in a file that only its user can read. */
export interface Holder {
  readonly pid: number;
  /** Its manifest. */
  readonly file: string;
  /** Its page, once it listens. */
  readonly url?: string | undefined;
  /** What a request has to show to read output and to restart processes. */
  readonly token: string;
}

/** Another supervisor runs the manifest. */
export class LockedError extends Error {}

/** Folder of the supervisors of this user, one folder for each manifest. */
function baseFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env;
  if (runtime !== undefined && runtime !== "") return join(runtime, "holdfast");
  return join(tmpdir(), `holdfast-${process.getuid?.() ?? 0}`);
}

/**
 * The right to run a manifest. Each contender writes a file of its own, then looks for others that live: of two at the same
 * moment both may give up, but never both go on, and nothing has to be taken away from a dead one.
 */
export class RunLock implements Disposable {
  /** Folder for what the supervisor of this manifest leaves on disk. */
  readonly folder: string;
  readonly token: string = randomBytes(16).toString("hex");
  readonly #file: string;
  readonly #holders: string;
  readonly #entry: string;

  /**
   * @param file - the manifest; `"-"` has no other name, and is locked against nobody
   * @throws LockedError if another supervisor holds it; the error of the file system if there is no place for it
   */
  constructor(file: string) {
    this.#file = file;
    const base = baseFolder();
    mkdirSync(base, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(base);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
      throw new Error(`${base} can be written by other users`);
    const name = file === "-" ? `stdin ${process.pid}` : realpathSync(file);
    this.folder = join(base, createHash("sha256").update(name).digest("hex").slice(0, 16));
    this.#holders = join(this.folder, "holders");
    this.#entry = join(this.#holders, entryName(process.pid));
    while (!this.#enter());
    const other = holdersIn(this.#holders).find(({ pid }) => pid !== process.pid);
    if (other === undefined) return;
    rmSync(this.#entry, { force: true }); // The folders are those of the other one.
    throw new LockedError(`process ${other.pid} runs ${file} already`);
  }

  /** Says where the page is. */
  publish(url: string | undefined): void {
    const holder: Holder = { pid: process.pid, file: this.#file, url, token: this.token };
    writeFileSync(this.#entry, JSON.stringify(holder), { mode: 0o600 });
  }

  /** Makes the entry. Returns false if a supervisor that ends has removed the folder meanwhile. */
  #enter(): boolean {
    try {
      mkdirSync(this.#holders, { recursive: true, mode: 0o700 });
      this.publish(undefined);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return false;
    }
  }

  [Symbol.dispose](): void {
    // Before the entry: then the next one may note its processes.
    removeEmpty(join(this.folder, "processes"));
    rmSync(this.#entry, { force: true });
    removeEmpty(this.#holders);
    removeEmpty(this.folder);
  }
}

/** Removes a folder, unless another one uses it, or a process that does not end is noted in it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or not there.
  }
}

/** The running supervisors of this user. */
export function runningSupervisors(): readonly Holder[] {
  const base = baseFolder();
  return namesIn(base).flatMap((name) => holdersIn(join(base, name, "holders")));
}

/** Pid and start: a later process with the same pid is another one. */
function entryName(pid: number): string {
  return `${pid}-${processState(pid)?.startTime ?? ""}`;
}

/** The entries of living supervisors. Removes the others. */
function holdersIn(folder: string): readonly Holder[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const pid = Number.parseInt(name, 10);
    if (!isAlive(pid) || entryName(pid) !== name) {
      rmSync(path, { force: true });
      return [];
    }
    try {
      return [JSON.parse(readFileSync(path, "utf8")) as Holder];
    } catch {
      return [{ pid, file: "", token: "" }]; // It is being written.
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  if (processState(pid)?.isZombie === true) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
