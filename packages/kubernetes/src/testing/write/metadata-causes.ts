import { type Cause, required, wrong } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, own, stringsOf } from "../json.ts";
import type { ServedResource } from "../served-resource.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PART_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const TOO_LONG = "must be no more than 63 bytes";
const NAMESPACE_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KIND_RULE =
  "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Violations in the metadata of an object. */
export function* metadataCauses(served: ServedResource, object: JsonObject): Generator<Cause> {
  yield* nameCauses(served, metadataOf(object)["name"]);
  yield* fieldCauses(metadataOf(object), "metadata");
}

/** Violations in the type and the metadata of an object within another: of `x-kubernetes-embedded-resource`. */
export function* embeddedCauses(object: JsonObject, path: string): Generator<Cause> {
  for (const [name, rule] of Object.entries(TYPE_RULES)) {
    const field = `${path}.${name}`;
    const value = own(object, name);
    if (value === undefined) yield required(field, "");
    else if (value === "") yield wrong(field, value, "must not be empty");
    else if (typeof value === "string" && !rule.test(value))
      yield wrong(
        field,
        value,
        rule === KIND ? KIND_RULE : `unexpected GroupVersion string: ${value}`,
      );
  }
  const metadata = metadataOf(object);
  const { namespace } = metadata;
  if (typeof namespace === "string" && namespace !== "" && !LABEL.test(namespace))
    yield wrong(`${path}.metadata.namespace`, namespace, NAMESPACE_RULE);
  yield* fieldCauses(metadata, `${path}.metadata`);
}

const KIND = /^[a-z]([-a-z0-9]*[a-z0-9])?$/i;
const TYPE_RULES = { apiVersion: /^[^/]*(\/[^/]*)?$/, kind: KIND } as const;

/** Violations in all of the metadata but the name. */
function* fieldCauses(metadata: JsonObject, path: string): Generator<Cause> {
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  yield* labelCauses(labels, `${path}.labels`);
  for (const [annotation] of entriesOf(annotations))
    if (!QUALIFIED.test(annotation.toLowerCase()))
      yield wrong(`${path}.annotations`, annotation, PART_RULE);
  for (const finalizer of stringsOf(finalizers))
    if (!QUALIFIED.test(finalizer)) yield wrong(`${path}.finalizers`, finalizer, PART_RULE);
  if (Array.isArray(ownerReferences))
    yield* ownerCauses(ownerReferences.filter(isObject), `${path}.ownerReferences`);
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
    .sort()
    .map(
      (name) =>
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name${name.includes(".") ? " including a path (/)" : ""} to avoid accidental conflicts with other finalizer writers`,
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

function* labelCauses(labels: unknown, path: string): Generator<Cause> {
  for (const [label, value] of entriesOf(labels)) {
    if (!QUALIFIED.test(label)) yield wrong(path, label, PART_RULE);
    if (typeof value === "string" && value.length > 63) yield wrong(path, value, TOO_LONG);
    else if (typeof value !== "string" || !VALUE.test(value)) yield wrong(path, value, VALUE_RULE);
  }
}

function* ownerCauses(owners: readonly JsonObject[], path: string): Generator<Cause> {
  for (const owner of owners)
    for (const field of ["apiVersion", "kind", "name", "uid"])
      if (!owner[field]) yield wrong(`${path}.${field}`, owner[field] ?? "", "must not be empty");
  if (owners.filter(({ controller }) => controller === true).length > 1)
    yield wrong(path, owners.length, "Only one reference can have Controller set to true");
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
