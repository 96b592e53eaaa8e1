import { createHash, randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { processState } from "../../proc.ts";
import { OwnFolder } from "./own-folder.ts";
import { noteKilled } from "./roster.ts";

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

/** The address of a page at which its user sees output and buttons. */
export function pageOf({ token }: { readonly token: string }, url: string): string {
  return `${url}?token=${token}`;
}

/** Another supervisor runs the manifest. */
export class LockedError extends Error {}

/** Longest entry, in bytes: a path and a few facts. */
const LONGEST_ENTRY = 32_768;
/** Pid and start time. */
const ENTRY = /^([1-9]\d*)-\d*$/;
/** The folder of a manifest. */
const MANIFEST = /^[\da-f]{16}$/;
const TOKEN = /^[\da-f]{32}$/;
/** A page is on this machine, whatever an entry says. */
const PAGE = /^http:\/\/127\.0\.0\.1:\d{1,5}\/$/;

/** Folder of the supervisors of this user, one folder for each manifest. */
function baseFolder(): OwnFolder {
  const { XDG_RUNTIME_DIR: runtime = "" } = process.env;
  if (isAbsolute(runtime)) return new OwnFolder(join(runtime, "holdfast"));
  return new OwnFolder(join(tmpdir(), `holdfast-${process.getuid?.() ?? 0}`));
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
  readonly #folder: OwnFolder;
  readonly #holders: OwnFolder;
  readonly #entry = entryName(process.pid);

  /**
   * @param file - the manifest; `"-"` has no other name, and is locked against nobody
   * @throws LockedError if another supervisor holds it; an Error if other users can write in its folder; the
   * error of the file system if there is no place for it
   */
  constructor(file: string) {
    this.#file = file;
    const name = file === "-" ? `stdin ${process.pid}` : realpathSync(file);
    const hash = createHash("sha256").update(name).digest("hex");
    const base = baseFolder();
    base.make();
    this.#folder = base.folder(hash.slice(0, 16));
    this.folder = this.#folder.path;
    this.#holders = this.#folder.folder("holders");
    while (!this.#enter());
    const other = holdersIn(this.#folder).find(({ pid }) => pid !== process.pid);
    if (other === undefined) return;
    this.#holders.remove(this.#entry); // The folders are those of the other one.
    throw new LockedError(`process ${other.pid} runs ${file} already`);
  }

  /** Says where the page is. */
  publish(url: string | undefined): void {
    const holder: Holder = { pid: process.pid, file: this.#file, url, token: this.token };
    this.#holders.write(this.#entry, JSON.stringify(holder));
  }

  /** Makes the entry. Returns false if a supervisor that ends has removed the folder meanwhile. */
  #enter(): boolean {
    try {
      this.#holders.make();
      this.publish(undefined);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return false;
    }
  }

  [Symbol.dispose](): void {
    // Before the entry: then the next one may note its processes.
    this.#folder.folder("processes").removeEmpty();
    this.#holders.remove(this.#entry);
    this.#holders.removeEmpty();
    this.#folder.removeEmpty();
  }
}

/**
 * The running supervisors of this user.
 *
 * @throws Error if other users can write in the folder of the supervisors
 */
export function runningSupervisors(): readonly Holder[] {
  const base = baseFolder();
  return base.names(MANIFEST).flatMap((name) => holdersIn(base.folder(name)));
}

/** Pid and start: a later process with the same pid is another one. */
function entryName(pid: number): string {
  return `${pid}-${processState(pid)?.startTime ?? ""}`;
}

/** The entries of living supervisors of a manifest. Removes the others, which were killed. */
function holdersIn(manifest: OwnFolder): readonly Holder[] {
  const folder = manifest.folder("holders");
  return folder.names(ENTRY).flatMap((name) => {
    const pid = Number.parseInt(name, 10);
    if (isAlive(pid) && entryName(pid) === name)
      // While it is being written, it is that of a supervisor without a page.
      return [holderFrom(pid, folder.read(name, LONGEST_ENTRY)) ?? { pid, file: "", token: "" }];
    noteKilled(manifest.folder("processes"), name);
    folder.remove(name);
    return [];
  });
}

/** What an entry says; undefined unless a supervisor has written it whole. */
function holderFrom(pid: number, text = ""): Holder | undefined {
  let value: Partial<Record<keyof Holder, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { file, url, token } = value ?? {};
  if (typeof file !== "string" || typeof token !== "string" || !TOKEN.test(token)) return undefined;
  if (url === undefined) return { pid, file, token };
  return typeof url === "string" && PAGE.test(url) ? { pid, file, url, token } : undefined;
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
