import type { CachedObject } from "../object/kube-object.ts";
import { changesBetween, deletion, type ObjectChange } from "./change.ts";

/**
 * The changes that turn one list into another: deletions first, then the rest in the order of `after`. The
 * same object is not a change.
 */
export function difference(
  before: ReadonlyMap<string, CachedObject>,
  after: ReadonlyMap<string, CachedObject>,
  isInitial = false,
): ObjectChange[] {
  const changes: ObjectChange[] = [];
  for (const [key, old] of before) if (!after.has(key)) changes.push(deletion(key, old, old, true));
  for (const [key, object] of after)
    changes.push(...changesBetween(key, before.get(key), object, isInitial));
  return changes;
}
