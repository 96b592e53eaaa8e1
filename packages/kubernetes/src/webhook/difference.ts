import { isEqual, isObject, own } from "@holdfast/kit/kubernetes";
import type { JsonPatchOperation } from "../object/kube-object.ts";

/**
 * The JSON patch from one value to another. Objects differ by key, lists of one length by index, all else as a whole. A field
 * that is undefined is missing.
 */
export function difference(from: unknown, to: unknown, path = ""): JsonPatchOperation[] {
  if (isObject(from) && isObject(to)) {
    const removed = Object.keys(from)
      .filter((key) => own(to, key) === undefined)
      .map((key): JsonPatchOperation => ({ op: "remove", path: below(path, key) }));
    const rest = Object.keys(to).flatMap((key): JsonPatchOperation[] => {
      const value = to[key];
      if (value === undefined) return [];
      if (!Object.hasOwn(from, key)) return [{ op: "add", path: below(path, key), value }];
      return difference(from[key], value, below(path, key));
    });
    return [...removed, ...rest];
  }
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
    return to.flatMap((item, index) => difference(from[index], item, below(path, String(index))));
  return isEqual(from, to) ? [] : [{ op: "replace", path, value: to }];
}

function below(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
