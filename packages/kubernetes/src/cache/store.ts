import type { CachedObject } from "../object/kube-object.ts";
import { keyOf, type ObjectName } from "../object/object-ref.ts";
import { compareVersions, isOlder } from "../object/resource-version.ts";
import type { ServerObject } from "../object/server-object.ts";
import { changesBetween, deletion } from "./change.ts";
import { difference } from "./difference.ts";
import type { ObjectShape } from "./object-shape.ts";
import { ObjectTable } from "./object-table.ts";
import { OwnWrites } from "./own-writes.ts";
import type { OnRejected } from "./rejections.ts";
import type { Scope } from "./scope.ts";

/** An event of a watch that has an object. */
export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ServerObject;
}

/** A write of this process, as the server answered it: the object as it is now, or that it is gone. */
export type OwnWrite =
  | { readonly type: "stored"; readonly object: ServerObject }
  | { readonly type: "gone"; readonly name: ObjectName; readonly uid: string };

/** Whether the cache can follow the server. If not, only a list helps. */
export type Consistency =
  | "consistent"
  /** The server was restored from an older state. */
  | "rollback"
  /** The watch has passed an own write and not shown it. */
  | "missed-write";

/**
 * The objects of one reflector: those that its lists and its watch showed, and own writes before that. Other files only read
 * its fields.
 */
export class Store {
  readonly table: ObjectTable;
  /** The version that the watch has come to. Undefined before the first list. */
  version: string | undefined = undefined;
  /** Whether a list has been complete. */
  hasSynced = false;
  readonly #shape: ObjectShape;
  readonly #scope: Scope;
  readonly #own = new OwnWrites();
  /** Version of the last list, which has everything up to it: an object that is not there has left. */
  #listed = "";
  #isListing = false;
  /** Whether the server went back to an older state: until the next list, equal versions may be of two histories. */
  #isRolledBack = false;

  constructor(shape: ObjectShape, scope: Scope, onRejected: OnRejected = () => {}) {
    this.table = new ObjectTable(onRejected);
    this.#shape = shape;
    this.#scope = scope;
  }

  /** How many own writes the watch has not shown yet. */
  get pendingWrites(): number {
    return this.#own.size;
  }

  /** Call it before a list is asked for. */
  beginList(): void {
    this.#own.beginList();
    this.table.rejections.beginList();
    this.#isListing = true;
  }

  /** Call it when the server was restored from an older state. The next list then replaces every object. */
  rollBack(): void {
    this.#isRolledBack = true;
  }

  /**
   * The object for the cache: the cached one if it is the same version, or if `transform` rejects this one.
   * Undefined if that is not there.
   */
  admit(key: string, object: ServerObject): CachedObject | undefined {
    const { uid, resourceVersion } = object.metadata;
    const cached = this.table.get(key);
    const last = cached?.metadata.uid === uid ? cached : undefined;
    const isSame = last?.metadata.resourceVersion === resourceVersion && !this.#isRolledBack;
    if (isSame) return last;
    return this.#shaped(key, object) ?? last;
  }

  /** Takes a complete list. `items` belongs to the store then. */
  replace(items: Map<string, CachedObject>, version: string): void {
    const { objects, rejections } = this.table;
    this.#own.amend(items, version, objects);
    this.table.commit(difference(objects, items, !this.hasSynced));
    rejections.endList(items);
    this.version = version;
    this.#listed = version;
    this.#isListing = false;
    this.hasSynced = true;
    this.#isRolledBack = false;
  }

  /** Takes an event of the watch. */
  apply({ type, object }: ObjectEvent): Consistency {
    const { uid, resourceVersion: version } = object.metadata;
    if (isOlder(version, this.version ?? "")) return "rollback";
    const key = keyOf(object);
    if (type === "DELETED") this.table.leave(uid);
    if (!this.#own.drops({ type, key, uid, version })) {
      if (type === "DELETED") this.#remove(key, object);
      else this.#put(key, object);
    }
    return this.#advance(version);
  }

  /** Takes a bookmark: the watch has shown everything up to this version. */
  bookmark(version: string): Consistency {
    if (isOlder(version, this.version ?? "")) return "rollback";
    const isMissed = this.#own.bookmark();
    return isMissed ? "missed-write" : this.#advance(version);
  }

  /**
   * Stores the response of a write of this process, so that the cache is at least as new as the knowledge of the
   * caller. A write that the watch has already delivered changes nothing.
   */
  write(write: OwnWrite): Consistency {
    const isFollowed = this.version !== undefined || this.#isListing;
    if (!isFollowed || !this.#scope.isKnown) return "consistent";
    if (write.type === "stored") return this.#store(write.object);
    if (this.#scope.coversName(write.name))
      this.#delete(keyOf({ metadata: write.name }), write.uid);
    return "consistent";
  }

  #store(object: ServerObject): Consistency {
    if (!this.#canFollow(object)) return "consistent";
    const { uid, resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    // A later write was answered first, and its event is still to come.
    if (this.#own.isPending(key, version)) return "consistent";
    const old = this.table.get(key);
    if (this.version !== undefined && !isOlder(this.version, version))
      return this.#storeLate(key, object);
    const isShown = this.#scope.covers(object);
    if (isShown) this.#put(key, ownCopy(object));
    else if (old !== undefined) this.table.commit([deletion(key, old, old, false)]);
    this.#own.write(key, { uid, version, isShown }, isShown || old !== undefined);
    return "consistent";
  }

  /** Takes a response that the watch has passed: with its event, unless the cache is older than the response. */
  #storeLate(key: string, object: ServerObject): Consistency {
    const old = this.table.get(key);
    const isShown = this.#scope.covers(object);
    const { uid, resourceVersion } = object.metadata;
    const isMissed =
      old === undefined
        ? isShown && !this.table.hasLeft(uid) && isOlder(this.#listed, resourceVersion)
        : isLater(object, old);
    if (!isMissed) return "consistent";
    if (isShown) this.#put(key, ownCopy(object));
    else if (old !== undefined) this.table.commit([deletion(key, old, old, false)]);
    return "missed-write";
  }

  /** Whether the response of a write can be put in order with the events of the watch. */
  #canFollow({ metadata }: ServerObject): boolean {
    const { uid, resourceVersion: version } = metadata;
    const isNumber = compareVersions(version, version) !== undefined;
    return isNumber && this.#scope.coversName(metadata) && !this.#own.isDeleted(uid);
  }

  #delete(key: string, uid: string): void {
    const old = this.table.get(key);
    const isCached = old?.metadata.uid === uid;
    this.table.leave(uid);
    this.#own.delete(key, uid, isCached);
    if (isCached) this.table.commit([deletion(key, old, old, false)]);
  }

  #put(key: string, object: ServerObject): void {
    const admitted = this.admit(key, object);
    if (admitted !== undefined)
      this.table.commit(changesBetween(key, this.table.get(key), admitted));
  }

  #remove(key: string, object: ServerObject): void {
    const old = this.table.get(key);
    if (old === undefined) {
      this.table.rejections.forget(key);
      return;
    }
    const isSame = old.metadata.uid === object.metadata.uid;
    const last = isSame ? this.#shaped(key, object) : undefined;
    this.table.commit([deletion(key, old, last ?? old, !isSame)]);
  }

  #shaped(key: string, object: ServerObject): CachedObject | undefined {
    return this.table.rejections.attempt(key, "options.transform", this.#shape, object);
  }

  #advance(version: string): Consistency {
    this.version = version;
    return this.#own.pass(version) ? "missed-write" : "consistent";
  }
}

/** Whether a response is a later state of the cached object. */
function isLater({ metadata }: ServerObject, { metadata: cached }: CachedObject): boolean {
  const isSame = cached.uid === metadata.uid;
  return isSame && isOlder(cached.resourceVersion, metadata.resourceVersion);
}

/** The caller of the write has the same object, and may change it. By JSON, of which it is: four times as fast as a clone. */
function ownCopy(object: ServerObject): ServerObject {
  return JSON.parse(JSON.stringify(object)) as ServerObject;
}
