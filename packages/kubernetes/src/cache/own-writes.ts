import type { CachedObject } from "../object/kube-object.ts";
import { isOlder } from "../object/resource-version.ts";
import { PendingMap } from "./pending-map.ts";

/** A key whose cached state is newer than the watch. */
interface PendingWrite {
  readonly uid: string;
  /** Version of the own write. Events below it are older than the cache. */
  readonly version: string;
  /** False if the write took the object out of the selector, or the object is gone. */
  readonly isShown: boolean;
  /** Number of the list that was begun last before the write was answered. */
  readonly list: number;
  /** Number of bookmarks before the write was answered. */
  readonly bookmarks: number;
}

/** An object that was deleted and whose deletion the watch has not shown. */
interface Tombstone {
  readonly key: string;
  readonly list: number;
  readonly bookmarks: number;
}

/**
 * After so many bookmarks, which come once a minute, the watch will not show a write: the server was restored from
 * an older state, in which the write has not happened.
 */
const MAX_BOOKMARKS = 2;

/**
 * Remembers own writes until the watch has shown them, so that older events do not undo them. One per
 * reflector: another one has come to another version.
 *
 * | Remembered | Until |
 * | --- | --- |
 * | the version of a write | an event of its key that is not older, or a list that has it |
 * | a write that took the object away | the watch has come to its version, or such a list |
 * | a tombstone: the UID of a deleted object | its event DELETED, or a list begun later |
 * | both | two bookmarks have not shown them: then a list comes |
 *
 * A list has a write if it was begun after the response, or if its version is not older.
 */
export class OwnWrites {
  readonly #writes = new PendingMap<PendingWrite>();
  readonly #tombstones = new PendingMap<Tombstone>();
  #list = 0;
  #bookmarks = 0;

  /** How many keys and UIDs are remembered. */
  get size(): number {
    return this.#writes.size + this.#tombstones.size;
  }

  /** Remembers a write. `isCertain`: the watch will show it, or has shown the object before. */
  write(
    key: string,
    write: { uid: string; version: string; isShown: boolean },
    isCertain: boolean,
  ): void {
    this.#writes.add(key, { ...write, ...this.#now }, isCertain);
  }

  /** Remembers that the object is gone. Events of it that are still to come are dropped. */
  delete(key: string, uid: string, isCertain: boolean): void {
    const write = this.#writes.get(key);
    if (write?.uid === uid) this.#writes.add(key, { ...write, isShown: false }, true);
    this.#tombstones.add(uid, { key, ...this.#now }, isCertain);
  }

  get #now(): { readonly list: number; readonly bookmarks: number } {
    return { list: this.#list, bookmarks: this.#bookmarks };
  }

  isDeleted(uid: string): boolean {
    return this.#tombstones.has(uid);
  }

  /** Whether a write as new as `version` is remembered. */
  isPending(key: string, version: string): boolean {
    const write = this.#writes.get(key);
    return write !== undefined && !isOlder(write.version, version);
  }

  /** Whether to drop an event, because the cache is newer. Forgets the writes that the event confirms. */
  drops(event: { type: string; key: string; uid: string; version: string }): boolean {
    const { type, key, uid, version } = event;
    if (this.#tombstones.has(uid)) {
      if (type === "DELETED") this.#tombstones.delete(uid);
      return true;
    }
    const write = this.#writes.get(key);
    if (write === undefined) return false;
    if (isOlder(version, write.version)) return true;
    this.#writes.delete(key);
    return false;
  }

  /**
   * The watch has come to `version`. Responses have nearly the order of versions, so it is enough to look from
   * the oldest on: a passed write behind one that is not is found later.
   *
   * @returns whether it has passed a write without showing it
   */
  pass(version: string): boolean {
    for (const [key, write] of this.#writes) {
      if (isOlder(version, write.version)) return false;
      if (write.isShown) return true;
      this.#writes.delete(key);
    }
    return false;
  }

  /** Counts a bookmark. Returns whether a write is still not shown after {@link MAX_BOOKMARKS} of them. */
  bookmark(): boolean {
    this.#bookmarks++;
    const pending = [...this.#writes.certain(), ...this.#tombstones.certain()];
    return pending.some(({ bookmarks }) => this.#bookmarks - bookmarks >= MAX_BOOKMARKS);
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
    for (const [key, write] of this.#writes) {
      const own = write.isShown ? cached.get(key) : undefined;
      if (write.list < this.#list || !isOlder(version, write.version)) this.#writes.delete(key);
      else if (own === undefined) items.delete(key);
      else items.set(key, own);
    }
    for (const [uid, { key, list }] of this.#tombstones) {
      if (list < this.#list) this.#tombstones.delete(uid);
      else if (items.get(key)?.metadata.uid === uid) items.delete(key);
    }
  }
}
