import { isObject, type JsonObject } from "../object/json.ts";

/**
 * A path to a field: `f:name` is a field, `v:value` an item of a set, `k:{"name":"web"}` an item of a list
 * with keys. As in `metadata.managedFields`.
 */
export type FieldPath = readonly string[];

/** A set of paths. Values never change. */
export class FieldSet {
  #paths = new Map<string, FieldPath>();

  constructor(paths: Iterable<FieldPath> = []) {
    for (const path of paths) this.#paths.set(JSON.stringify(path), path);
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  has(path: FieldPath): boolean {
    return this.#paths.has(JSON.stringify(path));
  }

  /** Whether the set has a path below `path`. */
  hasBelow(path: FieldPath): boolean {
    return this.paths().some((one) => one.length > path.length && startsWith(one, path));
  }

  /** The paths, in order. */
  paths(): FieldPath[] {
    return [...this.#paths.values()].sort(comparePaths);
  }

  filter(keep: (path: FieldPath) => boolean): FieldSet {
    return this.#keep((_, path) => keep(path));
  }

  union(other: FieldSet): FieldSet {
    const union = new FieldSet();
    union.#paths = new Map([...this.#paths, ...other.#paths]);
    return union;
  }

  difference(other: FieldSet): FieldSet {
    return this.#keep((key) => !other.#paths.has(key));
  }

  intersection(other: FieldSet): FieldSet {
    return this.#keep((key) => other.#paths.has(key));
  }

  equals(other: FieldSet): boolean {
    return this.#paths.size === other.#paths.size && this.difference(other).isEmpty;
  }

  #keep(keep: (key: string, path: FieldPath) => boolean): FieldSet {
    const kept = new FieldSet();
    for (const [key, path] of this.#paths) if (keep(key, path)) kept.#paths.set(key, path);
    return kept;
  }

  /** The form `FieldsV1`. */
  toFields(): JsonObject {
    const root: JsonObject = {};
    for (const path of this.paths()) {
      let node = root;
      for (const element of path) {
        node[element] ??= {};
        node = node[element] as JsonObject;
      }
      node["."] = {};
    }
    return leavesWithoutDot(root);
  }

  /** Reads the form `FieldsV1`. */
  static fromFields(fields: unknown): FieldSet {
    return new FieldSet(pathsOf(fields, []));
  }
}

/** Fields come before what is below the fields beside them, as in structured-merge-diff. */
function comparePaths(a: FieldPath, b: FieldPath): number {
  const at = a.findIndex((element, index) => element !== b[index]);
  if (at === -1 || at >= b.length) return a.length - b.length;
  const [isLeaf, isOtherLeaf] = [a.length === at + 1, b.length === at + 1];
  if (isLeaf !== isOtherLeaf) return isLeaf ? -1 : 1;
  return (a[at] as string) < (b[at] as string) ? -1 : 1;
}

/** Whether a path begins with another. */
function startsWith(path: FieldPath, prefix: FieldPath): boolean {
  return prefix.every((element, index) => path[index] === element);
}

function leavesWithoutDot(node: JsonObject): JsonObject {
  const names = Object.keys(node);
  if (names.length === 1 && names[0] === ".") return {};
  return Object.fromEntries(
    names.map((name) => [name, name === "." ? {} : leavesWithoutDot(node[name] as JsonObject)]),
  );
}

function* pathsOf(fields: unknown, path: FieldPath): Generator<FieldPath> {
  if (!isObject(fields)) return;
  for (const [element, below] of Object.entries(fields)) {
    if (element === ".") yield path;
    else if (isObject(below) && Object.keys(below).length === 0) yield [...path, element];
    else yield* pathsOf(below, [...path, element]);
  }
}

/** A path as messages and causes name it: `.spec.ports[name="web"].port`. */
export function formatPath(path: FieldPath): string {
  return path.map(formatElement).join("");
}

function formatElement(element: string): string {
  const value = element.slice(2);
  if (element.startsWith("f:")) return `.${value}`;
  if (element.startsWith("v:")) return `[=${value}]`;
  if (element.startsWith("i:")) return `[${value}]`;
  const keys = Object.entries(JSON.parse(value) as JsonObject);
  return `[${keys.map(([name, key]) => `${name}=${JSON.stringify(key)}`).join(",")}]`;
}
