import { keyOf, type ObjectName } from "../object/object-ref.ts";
import { compareVersions } from "../object/resource-version.ts";
import { type CachedObject, changesBetween, deletion } from "./change.ts";
import { difference } from "./difference.ts";
import type { ObjectShape } from "./object-shape.ts";
import { ObjectTable } from "./object-table.ts";
import { isOlder, OwnWrites } from "./own-writes.ts";
import type { Scope } from "./scope.ts";
import type { ServerObject } from "./server-object.ts";

/** An event of a watch that has an object. */
export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ServerObject;
}

/** A write of this process, as the server answered it: the object as it is now, or that it is gone. */
export type OwnWrite =
  | { readonly type: "stored"; readonly object: ServerObject }
  | { readonly type: "gone"; readonly name: ObjectName; readonly uid: string };

/** Whether cache and server still agree. If not, only a list helps. */
export type Agreement = "agrees" | "went-back" | "lost-write";

/** The objects of one reflector: those that its lists and its watch showed, and own writes before that. */
export class Store {
  readonly table: ObjectTable = new ObjectTable();
  readonly #shape: ObjectShape;
  readonly #scope: Scope;
  readonly #own = new OwnWrites();
  #version: string | undefined = undefined;
  #isListing = false;
  #hasSynced = false;

  constructor(shape: ObjectShape, scope: Scope) {
    this.#shape = shape;
    this.#scope = scope;
  }

  /** The version that the watch has come to. Undefined before the first list. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Whether a list has been complete. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** How many own writes the watch has not shown yet. */
  get ahead(): number {
    return this.#own.size;
  }

  /** Call it before a list is asked for. */
  beginList(): void {
    this.#own.beginList();
    this.#isListing = true;
  }

  /** The object for the cache; the cached one itself if it is the same version. */
  admit(object: ServerObject): CachedObject {
    const { uid, resourceVersion } = object.metadata;
    const cached = this.table.get(keyOf(object));
    const isSame =
      cached?.metadata.uid === uid && cached.metadata.resourceVersion === resourceVersion;
    return isSame ? cached : this.#shape.toCached(object);
  }

  /** Takes a complete list. `items` belongs to the store then. */
  replace(items: Map<string, CachedObject>, version: string): void {
    const { objects } = this.table;
    this.#own.amend(items, version, objects);
    this.table.commit(difference(objects, items, !this.#hasSynced));
    this.#version = version;
    this.#isListing = false;
    this.#hasSynced = true;
  }

  /** Takes an event of the watch. If it throws, nothing has changed. */
  apply({ type, object }: ObjectEvent): Agreement {
    const { uid, resourceVersion: version } = object.metadata;
    if (this.#isPast(version)) return "went-back";
    const key = keyOf(object);
    if (!this.#own.drops({ type, key, uid, version })) {
      if (type === "DELETED") this.#remove(key, object);
      else this.#put(key, object);
    }
    return this.#advance(version);
  }

  /** Takes a bookmark: the watch has shown everything up to this version. */
  bookmark(version: string): Agreement {
    return this.#isPast(version) ? "went-back" : this.#advance(version);
  }

  /**
   * Stores the response of a write of this process, so that the cache is at least as new as the knowledge of the
   * caller. A write that the watch has already delivered changes nothing.
   */
  write(write: OwnWrite): Agreement {
    const isFollowed = this.#version !== undefined || this.#isListing;
    if (!isFollowed || !this.#scope.isKnown) return "agrees";
    if (write.type === "stored") return this.#store(write.object);
    if (this.#scope.coversName(write.name)) this.#hide(keyOf({ metadata: write.name }), write.uid);
    return "agrees";
  }

  #store(object: ServerObject): Agreement {
    if (!this.#canFollow(object)) return "agrees";
    const { uid, resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    const old = this.table.get(key);
    if (this.#version !== undefined && !isOlder(this.#version, version))
      return old !== undefined && isLater(object, old) ? "lost-write" : "agrees";
    if (this.#own.isAhead(key, version)) return "agrees";
    const isShown = this.#scope.covers(object);
    if (isShown)
      // A copy, since the caller of the write has the same object, and may change it.
      this.table.commit(changesBetween(key, old, this.#shape.toCached(structuredClone(object))));
    else if (old !== undefined) this.table.commit([deletion(key, old, old, false)]);
    this.#own.write(key, { uid, version, isShown }, isShown || old !== undefined);
    return "agrees";
  }

  /** Whether the response of a write can be put in order with the events of the watch. */
  #canFollow({ metadata }: ServerObject): boolean {
    const { uid, resourceVersion: version } = metadata;
    const isNumber = compareVersions(version, version) !== undefined;
    return isNumber && this.#scope.coversName(metadata) && !this.#own.isHidden(uid);
  }

  #hide(key: string, uid: string): void {
    const old = this.table.get(key);
    const isCached = old?.metadata.uid === uid;
    this.#own.hide(key, uid, isCached);
    if (isCached) this.table.commit([deletion(key, old, old, false)]);
  }

  #put(key: string, object: ServerObject): void {
    this.table.commit(changesBetween(key, this.table.get(key), this.admit(object)));
  }

  #remove(key: string, object: ServerObject): void {
    const old = this.table.get(key);
    if (old === undefined) return;
    const isSame = old.metadata.uid === object.metadata.uid;
    const last: CachedObject = isSame ? this.#shape.toCached(object) : old;
    this.table.commit([deletion(key, old, last, !isSame)]);
  }

  #isPast(version: string): boolean {
    return this.#version !== undefined && isOlder(version, this.#version);
  }

  #advance(version: string): Agreement {
    this.#version = version;
    return this.#own.pass(version) ? "lost-write" : "agrees";
  }
}

/** Whether a response is a later state of the cached object. */
function isLater({ metadata }: ServerObject, { metadata: cached }: CachedObject): boolean {
  const isSame = cached.uid === metadata.uid;
  return isSame && isOlder(cached.resourceVersion, metadata.resourceVersion);
}
