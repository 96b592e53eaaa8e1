import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const STICKY = 0o1000;

/**
 * A link leads elsewhere, and a pipe blocks the thread that opens it: neither is one of our files.
 */
const AS_IT_IS = constants.O_NOFOLLOW | constants.O_NONBLOCK;

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

/** Whether users other than this one and root can change it. A group with the number of the user is the user's own. */
function isOpenToOthers({ uid, gid, mode }: Stats): boolean {
  const own = ownUid();
  const byGroup = (mode & 0o020) !== 0 && gid !== own;
  return (uid !== own && uid !== 0) || byGroup || (mode & 0o002) !== 0;
}

/**
 * Accepts a folder of this user that no other user can write in, or put another one in the place of.
 *
 * @throws Error for any other folder and for a link; the error of the file system if there is none
 */
export function requireOwnFolder(path: string): void {
  const folder = lstatSync(path);
  const own = ownUid();
  if (!folder.isDirectory() || folder.uid !== own || isOpenToOthers(folder))
    throw new Error(
      `${path} is not a folder that you alone can write in: remove it, or see chown and chmod go-w`,
    );
  // Up to one of root, or one in which users cannot replace what is not theirs.
  for (let above = realpathSync(dirname(path)); ; above = dirname(above)) {
    const found = statSync(above);
    if ((found.mode & STICKY) !== 0 && [0, own].includes(found.uid)) return;
    if (isOpenToOthers(found))
      throw new Error(
        `other users can write in ${above}, and replace ${path}: see chown and chmod go-w`,
      );
    if (found.uid !== own || above === dirname(above)) return;
  }
}

/**
 * Makes a folder that the user names, with mode 0700, unless it is there. Links of the user or of root may lead to it.
 *
 * @param path - absolute
 * @returns the path without links
 * @throws Error if another user can write in it, put another one in its place, or has made a link to it
 */
export function makeOwnFolder(path: string): string {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true && ![0, ownUid()].includes(found.uid))
      throw new Error(`${at} is a link of another user`);
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const real = realpathSync(path);
  requireOwnFolder(real);
  return real;
}

/**
 * Opens a regular file of this user that has no other name: not what a link leads to, a pipe or a device.
 *
 * @param flags - such as `O_RDONLY`
 * @throws Error for anything else; the error of the file system if it cannot be opened
 */
export function openOwnFile(path: string, flags: number): number {
  const file = openSync(path, flags | AS_IT_IS, 0o600);
  const found = fstatSync(file);
  if (found.isFile() && found.nlink < 2 && found.uid === ownUid() && !isOpenToOthers(found))
    return file;
  closeSync(file);
  throw new Error(`${path} is not a regular file that you alone can write`);
}

/**
 * A folder in which this program keeps files, and which no other user can write in. Every call looks at the folder and
 * at those above it again: a long life outlasts a cleaned folder for temporary files.
 */
export class OwnFolder {
  readonly path: string;
  readonly #parent: OwnFolder | undefined;

  /**
   * @param path - absolute
   * @param parent - the folder of ours that it is in, which is made before it
   */
  constructor(path: string, parent?: OwnFolder) {
    this.path = path;
    this.#parent = parent;
  }

  /** A folder in this one. */
  folder(name: string): OwnFolder {
    return new OwnFolder(join(this.path, name), this);
  }

  /**
   * Makes it, with mode 0700, unless it is there.
   *
   * @throws Error if another user has made it, or could have
   */
  make(): void {
    if (this.#parent === undefined) mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    else this.#parent.make();
    try {
      // Not recursive: that would follow a link.
      mkdirSync(this.path, { mode: 0o700 });
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    requireOwnFolder(this.path);
  }

  /**
   * The names in it that match; none if there is no such folder.
   *
   * @throws Error if another user has made it, or could have
   */
  names(pattern: RegExp): readonly string[] {
    try {
      this.#require();
      return readdirSync(this.path).filter((name) => pattern.test(name));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** The text of a file of ours; undefined for one that is longer, for anything else, and for none. */
  read(name: string, longest: number): string | undefined {
    let file: number | undefined;
    try {
      this.#require();
      file = openOwnFile(join(this.path, name), constants.O_RDONLY);
      const buffer = Buffer.alloc(longest + 1);
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return length > longest ? undefined : buffer.toString("utf8", 0, length);
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Writes a file with mode 0600, in place of one of ours. */
  write(name: string, text: string): void {
    this.#require();
    const flags = constants.O_WRONLY | constants.O_CREAT;
    const file = openOwnFile(join(this.path, name), flags);
    try {
      ftruncateSync(file);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  }

  /** Removes a file of ours. Leaves anything else. */
  remove(name: string): void {
    try {
      this.#require();
      const path = join(this.path, name);
      const found = lstatSync(path);
      if (found.isFile() && found.uid === ownUid()) unlinkSync(path);
    } catch {
      // There is none.
    }
  }

  /** Removes the folder, unless something is in it. */
  removeEmpty(): void {
    try {
      this.#require();
      rmdirSync(this.path);
    } catch {
      // It is not empty, or not there.
    }
  }
  #require(): void {
    if (this.#parent !== undefined) this.#parent.#require();
    requireOwnFolder(this.path);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
