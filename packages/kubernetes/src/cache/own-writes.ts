import { compareVersions } from "../object/resource-version.ts";
import type { CachedObject } from "./change.ts";
import { PendingMap } from "./pending-map.ts";

/** Whether a version is older than another. False if they cannot be compared. */
export function isOlder(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 0) < 0;
}

/** A key whose cached state is newer than the watch. */
interface Ahead {
  readonly uid: string;
  /** Version of the own write. Events below it are older than the cache. */
  readonly version: string;
  /** False for a tombstone: the write took the object out of the selector, or the object is gone. */
  readonly isShown: boolean;
  /** Number of the list that was begun last before the write was answered. */
  readonly list: number;
}

/** An object that was deleted and whose deletion the watch has not shown. */
interface Hidden {
  readonly key: string;
  readonly list: number;
}

/**
 * Remembers own writes until the watch has shown them, so that older events do not undo them. One per
 * reflector: another one has come to another version.
 *
 * | Remembered | Until |
 * | --- | --- |
 * | the version of a write | an event of its key that is not older, or a list that has it |
 * | a tombstone | the watch has come to its version, or such a list |
 * | the UID of a deleted object | its event DELETED, or a list begun later |
 *
 * A list has a write if it was begun after the response, or if its version is not older.
 */
export class OwnWrites {
  readonly #ahead = new PendingMap<Ahead>();
  readonly #hidden = new PendingMap<Hidden>();
  #list = 0;

  /** How many keys and UIDs are remembered. */
  get size(): number {
    return this.#ahead.size + this.#hidden.size;
  }

  /** Remembers a write. `isCertain`: the watch will show it, or has shown the object before. */
  write(
    key: string,
    write: { uid: string; version: string; isShown: boolean },
    isCertain: boolean,
  ): void {
    this.#ahead.set(key, { ...write, list: this.#list }, isCertain);
  }

  /** Remembers that the object is gone. Events of it that are still to come are dropped. */
  hide(key: string, uid: string, isCertain: boolean): void {
    const ahead = this.#ahead.get(key);
    if (ahead?.uid === uid) this.#ahead.set(key, { ...ahead, isShown: false }, true);
    this.#hidden.set(uid, { key, list: this.#list }, isCertain);
  }

  isHidden(uid: string): boolean {
    return this.#hidden.get(uid) !== undefined;
  }

  /** Whether a write as new as `version` is remembered. */
  isAhead(key: string, version: string): boolean {
    const ahead = this.#ahead.get(key);
    return ahead !== undefined && !isOlder(ahead.version, version);
  }

  /** Whether to drop an event, because the cache is newer. Forgets the writes that the event confirms. */
  drops(event: { type: string; key: string; uid: string; version: string }): boolean {
    const { type, key, uid, version } = event;
    if (this.isHidden(uid)) {
      if (type === "DELETED") this.#hidden.delete(uid);
      return true;
    }
    const ahead = this.#ahead.get(key);
    if (ahead === undefined) return false;
    if (isOlder(version, ahead.version)) return true;
    this.#ahead.delete(key);
    return false;
  }

  /**
   * The watch has come to `version`. Answers have nearly the order of versions, so it is enough to look from
   * the oldest on: a passed write behind one that is not is found later.
   *
   * @returns whether it has passed a write without showing it
   */
  pass(version: string): boolean {
    for (const [key, ahead] of this.#ahead.entries()) {
      if (isOlder(version, ahead.version)) return false;
      if (ahead.isShown) return true;
      this.#ahead.delete(key);
    }
    return false;
  }

  /** Marks the begin of a list, which will have all that is remembered now. */
  beginList(): void {
    this.#list++;
  }

  /** Adds writes newer than a list to it, and forgets the rest. */
  amend(
    items: Map<string, CachedObject>,
    version: string,
    cached: ReadonlyMap<string, CachedObject>,
  ): void {
    for (const [key, ahead] of this.#ahead.entries()) {
      const own = ahead.isShown ? cached.get(key) : undefined;
      if (ahead.list < this.#list || !isOlder(version, ahead.version)) this.#ahead.delete(key);
      else if (own === undefined) items.delete(key);
      else items.set(key, own);
    }
    for (const [uid, { key, list }] of this.#hidden.entries()) {
      if (list < this.#list) this.#hidden.delete(uid);
      else if (items.get(key)?.metadata.uid === uid) items.delete(key);
    }
  }
}
