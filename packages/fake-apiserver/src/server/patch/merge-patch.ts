import {
  isForbidden,
  isObject,
  type JsonObject,
  own,
  UnsafePatchError,
} from "../../object/json.ts";

/**
 * Applies a merge patch (RFC 7386): objects are merged, null removes, everything else replaces.
 *
 * @returns a copy of `target`
 * @throws UnsafePatchError for a field that reaches a prototype
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  // As the library of the server: the objects of a list lose their nulls.
  if (Array.isArray(patch))
    return patch.map((item) => (item === null ? null : mergePatch(undefined, item)));
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (isForbidden(name)) throw new UnsafePatchError(name);
    if (value === null) delete result[name];
    else result[name] = mergePatch(own(result, name), value);
  }
  return result;
}
