import { isEqual, isObject, type JsonObject, metadataOf, own, without } from "../object/json.ts";

/** Fields of the metadata that a server keeps for an object, whoever writes it. */
const IDENTITY = ["uid", "creationTimestamp", "resourceVersion", "generation"];

/**
 * The object after a change of others that was recorded on another state of it.
 *
 * @param before - the recorded object before the change
 * @param after - the recorded object after the change
 * @param current - the object as it is instead of `before`
 */
export function rebased(before: JsonObject, after: JsonObject, current: JsonObject): JsonObject {
  const plain = (object: JsonObject): JsonObject => ({
    ...object,
    metadata: without(metadataOf(object), ...IDENTITY),
  });
  const object = merged(plain(before), plain(after), plain(current)) as JsonObject;
  const steps =
    Number(metadataOf(after)["generation"]) - Number(metadataOf(before)["generation"]) || 0;
  const { generation, ...rest } = metadataOf(current);
  const identity = Object.fromEntries(IDENTITY.map((name) => [name, own(rest, name)]));
  const next = typeof generation === "number" ? { generation: generation + steps } : {};
  const metadata = { ...metadataOf(object), ...identity, ...next };
  return { ...object, metadata: JSON.parse(JSON.stringify(metadata)) };
}

/** A value with the change from `before` to `after`. Of two changes of one value that of others wins. */
function merged(before: unknown, after: unknown, current: unknown): unknown {
  if (isEqual(before, after)) return current;
  if (isEqual(before, current)) return after;
  if (isObject(after) && isObject(current)) return mergedObject(before, after, current);
  const [old, theirs, ours] = [before, after, current].map(byKey);
  if (theirs === undefined || ours === undefined) return after;
  return Object.values(mergedObject(old, theirs, ours));
}

function mergedObject(before: unknown, after: JsonObject, current: JsonObject): JsonObject {
  const old = isObject(before) ? before : {};
  const names = new Set([...Object.keys(current), ...Object.keys(after)]);
  const entries = [...names].map((name): [string, unknown] => [
    name,
    merged(own(old, name), own(after, name), own(current, name)),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Fields by which the items of a list are known, those of `managedFields` by several. */
const KEYS = ["type", "name", "uid", "manager", "operation", "subresource"];

/** The items of a list by their keys. Undefined for a list whose items have none, or equal ones. */
function byKey(list: unknown): JsonObject | undefined {
  if (!Array.isArray(list) || !list.every(isObject)) return undefined;
  const keyOf = (item: JsonObject): string => JSON.stringify(KEYS.map((name) => own(item, name)));
  const none = keyOf({});
  const items = new Map(list.map((item) => [keyOf(item), item]));
  return items.size < list.length || items.has(none) ? undefined : Object.fromEntries(items);
}
