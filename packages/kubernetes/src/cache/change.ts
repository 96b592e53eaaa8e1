import type { CachedObject, KubeObject } from "../object/kube-object.ts";

/** A change of a cached object. */
export interface ObjectChange<T extends KubeObject = KubeObject> {
  /** Kind of the change. */
  readonly type: "added" | "updated" | "deleted";

  /** Key of the object: `"namespace/name"`, or `"name"` without a namespace. */
  readonly key: string;

  /** The object after the change; after a deletion, its last known state. */
  readonly object: CachedObject<T>;

  /** The cached object before the change. Undefined for `"added"`. */
  readonly old: CachedObject<T> | undefined;

  /** Whether the object was there before the informer or the source began. */
  readonly isInitial: boolean;

  /**
   * Whether the deletion itself was missed: a list no longer has the object, or its name belongs to another
   * one. `object` is then as old as `old`.
   */
  readonly isGuess: boolean;
}

/**
 * The changes from one state of a key to another, oldest first. Another UID is a deletion and an addition; the same
 * object is no change.
 */
export function changesBetween(
  key: string,
  old: CachedObject | undefined,
  object: CachedObject,
  isInitial = false,
): ObjectChange[] {
  const added: ObjectChange = {
    type: "added",
    key,
    object,
    old: undefined,
    isInitial,
    isGuess: false,
  };
  if (old === undefined) return [added];
  if (old.metadata.uid !== object.metadata.uid) return [deletion(key, old, old, true), added];
  if (old === object) return [];
  return [{ type: "updated", key, object, old, isInitial, isGuess: false }];
}

/** The deletion of an object that is cached as `old`, with its last state. */
export function deletion(
  key: string,
  old: CachedObject,
  object: CachedObject,
  isGuess: boolean,
): ObjectChange {
  return { type: "deleted", key, object, old, isInitial: false, isGuess };
}
