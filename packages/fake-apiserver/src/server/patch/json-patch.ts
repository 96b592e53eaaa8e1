import {
  isEqual,
  isForbidden,
  isObject,
  type JsonObject,
  own,
  UnsafePatchError,
} from "../../object/json.ts";

/** Operations of a JSON patch. */
export const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

/** One operation of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: (typeof OPERATIONS)[number];
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** An operation does not apply: a `test` failed or a path does not exist. */
export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
}

/**
 * Applies a JSON patch (RFC 6902), all of it or nothing.
 *
 * As in Kubernetes, a `test` for null passes where nothing is.
 *
 * @returns a copy of `document`
 * @throws JsonPatchError if an operation does not apply
 * @throws UnsafePatchError for a path that reaches a prototype
 */
export function jsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let result = document;
  for (const operation of operations) result = applyOperation(result, operation);
  return result;
}

function applyOperation(document: unknown, operation: JsonPatchOperation): unknown {
  const { op, from = "", value = null } = operation;
  const path = parsePointer(operation.path);
  switch (op) {
    case "add":
      return add(document, path, value);
    case "remove":
      return remove(document, path);
    case "replace":
      find(document, path);
      return path.length === 0 ? value : change(document, path, (place) => replaceAt(place, value));
    case "copy":
      return add(document, path, find(document, part(from)));
    case "move":
      return move(document, part(from), path);
    case "test":
      return test(document, path, value);
  }
}

/** The names in a JSON pointer (RFC 6901). None for the whole document. */
function parsePointer(pointer: string): string[] {
  // As the library of the server, which does not look at the part before the first slash.
  const [, ...names] = pointer.split("/");
  return names.map((name) => {
    const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (isForbidden(plain)) throw new UnsafePatchError(plain);
    return plain;
  });
}

/** The names in the pointer of a part of the document. */
function part(pointer: string): string[] {
  const names = parsePointer(pointer);
  requirePart(names);
  return names;
}

/** As the library of the server: the whole document can be replaced and tested, and nothing else. */
function requirePart(path: readonly string[]): void {
  if (path.length === 0) throw new JsonPatchError("the whole document is no part of itself");
}

/** One step of a path, in a copy of its parent. */
interface Place {
  readonly holder: JsonObject | unknown[];
  readonly name: string;
}

/** Copies every holder on the way to `path`, and lets `write` change the last one. */
function change(
  document: unknown,
  path: readonly string[],
  write: (place: Place) => void,
): unknown {
  const [name, ...rest] = path as [string, ...string[]];
  const holder = copyOf(document, name);
  if (rest.length === 0) write({ holder, name });
  else if (Array.isArray(holder)) {
    const index = indexOf(holder, name);
    holder[index] = change(holder[index], rest, write);
  } else holder[name] = change(own(holder, name), rest, write);
  return holder;
}

function copyOf(value: unknown, name: string): JsonObject | unknown[] {
  if (Array.isArray(value)) return [...value];
  if (isObject(value)) return { ...value };
  throw new JsonPatchError(`nothing holds ${JSON.stringify(name)}`);
}

function find(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    if (Array.isArray(value)) value = value[indexOf(value, name)];
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name];
    else throw new JsonPatchError(`there is no ${JSON.stringify(name)}`);
  }
  return value;
}

/** The index of an item. One below 0 counts from the end, where -1 is the last of `count` places. */
function indexOf(list: readonly unknown[], name: string, count = list.length): number {
  const given = /^-?\d+$/.test(name) ? Number(name) : Number.NaN;
  const index = given < 0 ? given + count : given;
  if (!(index >= 0 && index < count)) throw new JsonPatchError(`there is no item ${name}`);
  return index;
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  requirePart(path);
  return change(document, path, ({ holder, name }) => {
    if (!Array.isArray(holder)) holder[name] = value;
    else
      holder.splice(
        name === "-" ? holder.length : indexOf(holder, name, holder.length + 1),
        0,
        value,
      );
  });
}

function replaceAt({ holder, name }: Place, value: unknown): void {
  if (Array.isArray(holder)) holder[indexOf(holder, name)] = value;
  else holder[name] = value;
}

function remove(document: unknown, path: readonly string[]): unknown {
  requirePart(path);
  find(document, path);
  return change(document, path, ({ holder, name }) => {
    if (Array.isArray(holder)) holder.splice(indexOf(holder, name), 1);
    else delete holder[name];
  });
}

function move(document: unknown, from: readonly string[], path: readonly string[]): unknown {
  const isInside = path.length > from.length && from.every((name, index) => path[index] === name);
  if (isInside) throw new JsonPatchError("a value cannot move into itself");
  const value = find(document, from);
  return add(remove(document, from), path, value);
}

function test(document: unknown, path: readonly string[], value: unknown): unknown {
  if (!isEqual(findOrNull(document, path, value), value))
    throw new JsonPatchError(`testing /${path.join("/")} failed`);
  return document;
}

/** The stored value; null for none, if null is expected. */
function findOrNull(document: unknown, path: readonly string[], expected: unknown): unknown {
  if (expected !== null || path.length === 0) return find(document, path);
  const holder = find(document, path.slice(0, -1));
  const name = path[path.length - 1] as string;
  if (isObject(holder)) return own(holder, name) ?? null;
  return Array.isArray(holder) ? (holder[Number(name)] ?? null) : find(document, path);
}
