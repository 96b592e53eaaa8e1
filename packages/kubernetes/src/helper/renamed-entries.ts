import {
  isEqual,
  isObject,
  type JsonObject,
  own,
  propertiesOf,
  without,
} from "@holdfast/kit/kubernetes";

/** Where the entries of managed fields go. */
export interface EntryTarget {
  /** API versions that are renamed. */
  readonly from: ReadonlySet<string>;

  /** The API version that they get. */
  readonly to: string;

  /** Schema of that version. */
  readonly schema: JsonObject;
}

/**
 * The managed fields with the entries of some versions renamed, without the fields that the new schema lacks. Two entries
 * of a manager that become the same are one. Undefined: there is nothing to rename.
 */
export function renamedEntries(
  entries: readonly JsonObject[],
  { from, to, schema }: EntryTarget,
): JsonObject[] | undefined {
  if (!entries.some((entry) => from.has(String(entry["apiVersion"])))) return undefined;
  const renamed: JsonObject[] = [];
  for (const entry of entries) {
    const isRenamed = from.has(String(entry["apiVersion"]));
    const fields = isObject(entry["fieldsV1"]) ? entry["fieldsV1"] : {};
    const next: JsonObject = isRenamed
      ? { ...entry, apiVersion: to, fieldsV1: knownFields(fields, schema, true) }
      : entry;
    if (isRenamed && Object.keys(next["fieldsV1"] as JsonObject).length === 0) continue;
    const same = renamed.findIndex((one) => isEqual(managerOf(one), managerOf(next)));
    if (same === -1) renamed.push(next);
    else renamed[same] = united(renamed[same] as JsonObject, next) as JsonObject;
  }
  return renamed;
}

function managerOf(entry: JsonObject): JsonObject {
  return without(entry, "fieldsV1", "time");
}

/** Both values, with the fields of both. The times of entries are those of the second. */
function united(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return other;
  const all: JsonObject = { ...one };
  for (const [name, value] of Object.entries(other))
    all[name] = Object.hasOwn(one, name) ? united(one[name], value) : value;
  return all;
}

/** Fields of a set, such as `{ "f:spec": { "f:size": {} } }`, without those that a schema lacks. */
function knownFields(fields: JsonObject, schema: JsonObject, isRoot = false): JsonObject {
  const kept: [string, unknown][] = [];
  for (const [name, below] of Object.entries(fields)) {
    const child = isRoot && name === "f:metadata" ? ANYTHING : childOf(schema, name);
    if (child === undefined || !isObject(below)) continue;
    const inner = knownFields(below, child);
    // A field whose members have all gone is gone, too.
    if (Object.keys(below).length === 0 || Object.keys(inner).length > 0) kept.push([name, inner]);
  }
  return Object.fromEntries(kept);
}

const ANYTHING: JsonObject = { "x-kubernetes-preserve-unknown-fields": true };

/** The schema of a member of a set of fields: `f:NAME`, `k:KEYS`, `v:VALUE` or `.`, the field itself. */
function childOf(schema: JsonObject, name: string): JsonObject | undefined {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true && name !== ".") {
    const known = own(propertiesOf(schema), name.slice(2));
    return isObject(known) ? known : ANYTHING;
  }
  if (name === ".") return {};
  const found = name.startsWith("f:")
    ? (own(propertiesOf(schema), name.slice(2)) ?? schema["additionalProperties"])
    : isListOf(schema, name)
      ? schema["items"]
      : undefined;
  return isObject(found) ? found : undefined;
}

function isListOf(schema: JsonObject, name: string): boolean {
  const type = schema["x-kubernetes-list-type"];
  return name.startsWith("k:") ? type === "map" : name.startsWith("v:") && type === "set";
}
