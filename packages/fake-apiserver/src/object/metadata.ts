import { isEqual, isObject, type JsonObject, metadataOf } from "./json.ts";

/** The fields of metadata, in the order in which the server writes them. */
export const FIELDS: readonly string[] =
  "name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences finalizers managedFields".split(
    " ",
  );

/** Fields of the metadata that only the server sets. */
const SYSTEM_FIELDS = [
  "name",
  "namespace",
  "uid",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

const NEVER_KEPT: ReadonlySet<string> = new Set(["managedFields", "selfLink"]);

/** The metadata that a writer sent, without unknown and empty fields. */
export function cleanMetadata(object: JsonObject): JsonObject {
  const entries = Object.entries(metadataOf(object)).filter(
    ([name, value]) => !NEVER_KEPT.has(name) && FIELDS.includes(name) && !isEmpty(value),
  );
  const metadata = Object.fromEntries(entries);
  const { ownerReferences: owners } = metadata;
  return owners === undefined ? metadata : { ...metadata, ownerReferences: distinct(owners) };
}

/** A list without the items that are there before. */
function distinct(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  return list.filter((item, index) => list.findIndex((one) => isEqual(one, item)) === index);
}

/** The fields that Kubernetes does not know, by their paths. */
export function unknownMetadata(object: JsonObject): string[] {
  return Object.keys(metadataOf(object))
    .filter((name) => !FIELDS.includes(name))
    .map((name) => `metadata.${name}`);
}

/** Metadata in the order of the server, without undefined fields. */
export function orderedMetadata(metadata: JsonObject): JsonObject {
  const ordered: JsonObject = {};
  for (const name of FIELDS) if (metadata[name] !== undefined) ordered[name] = metadata[name];
  return ordered;
}

/** Metadata of an object after an update: the fields of writers, and the server's own fields unchanged. */
export function keptMetadata(old: JsonObject, submitted: JsonObject): JsonObject {
  const was = metadataOf(old);
  const metadata = { ...cleanMetadata(submitted) };
  for (const name of SYSTEM_FIELDS) {
    delete metadata[name];
    if (was[name] !== undefined) metadata[name] = was[name];
  }
  return metadata;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
