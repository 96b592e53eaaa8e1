import { type Cause, required, wrong } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, stringsOf } from "../json.ts";
import type { ServedResource } from "../served-resource.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const PART_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** Violations in the metadata of an object. */
export function* metadataCauses(served: ServedResource, object: JsonObject): Generator<Cause> {
  const { name, labels, annotations, finalizers, ownerReferences } = metadataOf(object);
  yield* nameCauses(served, name);
  yield* labelCauses(labels);
  for (const [annotation] of entriesOf(annotations))
    if (!QUALIFIED.test(annotation.toLowerCase()))
      yield wrong("metadata.annotations", annotation, PART_RULE);
  for (const finalizer of stringsOf(finalizers))
    if (!QUALIFIED.test(finalizer)) yield wrong("metadata.finalizers", finalizer, PART_RULE);
  if (Array.isArray(ownerReferences)) yield* ownerCauses(ownerReferences.filter(isObject));
}

/** Warnings about finalizers that another party could have chosen as well. */
export function finalizerWarnings(
  { isBuiltIn }: ServedResource,
  old: JsonObject | undefined,
  object: JsonObject,
): string[] {
  if (isBuiltIn) return [];
  const had = old === undefined ? [] : stringsOf(metadataOf(old)["finalizers"]);
  return stringsOf(metadataOf(object)["finalizers"])
    .filter((name) => !name.includes("/") && !STANDARD.has(name) && !had.includes(name))
    .map(
      (name) =>
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}

const STANDARD: ReadonlySet<string> = new Set(["foregroundDeletion", "kubernetes", "orphan"]);

/** Kinds whose names may be any segment of a path, or an address. */
const FREE_NAMES: ReadonlySet<string> = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "Event",
  "FlowSchema",
  "IPAddress",
  "PriorityLevelConfiguration",
  "Role",
  "RoleBinding",
]);

function* nameCauses({ isBuiltIn, kind }: ServedResource, name: unknown): Generator<Cause> {
  if (typeof name !== "string" || name === "")
    yield required("metadata.name", "name or generateName is required");
  else if (isBuiltIn && FREE_NAMES.has(kind)) return;
  else if (!(name.length <= 253 && name.split(".").every((part) => LABEL.test(part))))
    yield wrong("metadata.name", name, NAME_RULE);
}

function* labelCauses(labels: unknown): Generator<Cause> {
  for (const [label, value] of entriesOf(labels)) {
    if (!QUALIFIED.test(label)) yield wrong("metadata.labels", label, PART_RULE);
    if (typeof value !== "string" || !VALUE.test(value))
      yield wrong("metadata.labels", value, VALUE_RULE);
  }
}

function* ownerCauses(owners: readonly JsonObject[]): Generator<Cause> {
  for (const owner of owners)
    for (const field of ["apiVersion", "kind", "name", "uid"])
      if (!owner[field])
        yield wrong(`metadata.ownerReferences.${field}`, owner[field] ?? "", "must not be empty");
  if (owners.filter(({ controller }) => controller === true).length > 1)
    yield wrong(
      "metadata.ownerReferences",
      owners.length,
      "Only one reference can have Controller set to true",
    );
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
