import { isObject, type JsonObject, own } from "@holdfast/kit/kubernetes";

export {
  isEqual,
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
  without,
} from "@holdfast/kit/kubernetes";

// Objects in the store are frozen by agreement: a change makes a copy.

/** An object without the fields that are undefined. */
export function defined(object: JsonObject): JsonObject {
  const rest = { ...object };
  for (const name of Object.keys(rest)) if (rest[name] === undefined) delete rest[name];
  return rest;
}

/** Names that a patch must not write: they reach the prototype of an object. */
const FORBIDDEN: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a field of this name must not be written. */
export function isForbidden(name: string): boolean {
  return FORBIDDEN.has(name);
}

/** A patch names a field that would reach the prototype of an object. */
export class UnsafePatchError extends Error {
  override readonly name = "UnsafePatchError";

  constructor(field: string) {
    super(`a patch must not write the field ${JSON.stringify(field)}`);
  }
}

/** Parses text to a value of JSON, or returns undefined for text that is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON as Go writes it: keys in order, without letters that HTML gives a meaning. */
export function goJson(value: unknown): string {
  const inOrder = (_: string, member: unknown): unknown =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(byName)) : member;
  return JSON.stringify(value, inOrder).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** The field `metadata` of an object. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = own(object, "metadata");
  return isObject(metadata) ? metadata : {};
}

/** Strings of an array; other items are left out. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The value below some names, or undefined. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((at, name) => (isObject(at) ? own(at, name) : undefined), value);
}
