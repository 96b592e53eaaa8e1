import { type Cause, required, wrong } from "./cause.ts";
import { isEqual, isObject, type JsonObject, metadataOf, own, stringsOf } from "./json.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const LETTERS_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const TOO_LONG = "must be no more than 63 bytes";
const NAMESPACE_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KIND_RULE =
  "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** The part of a resource that names depend on. */
interface NameRules {
  readonly isBuiltIn: boolean;
  readonly kind: string;
}

/** Violations in the metadata of an object. */
export function* metadataCauses(served: NameRules, object: JsonObject): Generator<Cause> {
  yield* nameCauses(served, metadataOf(object));
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
  yield* finalizerCauses(stringsOf(metadata["finalizers"]), `${path}.finalizers`);
  yield* keptCauses(metadata, path);
}

/** Violations in the parts that the server checks once more in an update. */
export function* keptCauses(metadata: JsonObject, path: string): Generator<Cause> {
  const { labels, annotations, ownerReferences } = metadata;
  yield* labelCauses(labels, `${path}.labels`);
  yield* annotationCauses(annotations, `${path}.annotations`);
  if (Array.isArray(ownerReferences))
    yield* ownerCauses(ownerReferences.filter(isObject), `${path}.ownerReferences`);
}

/** The most bytes of all annotations of an object, with their keys. */
const MAX_ANNOTATIONS = 262_144;

function* annotationCauses(annotations: unknown, field: string): Generator<Cause> {
  let bytes = 0;
  for (const [key, value] of entriesOf(annotations)) {
    for (const problem of keyProblems(key.toLowerCase())) yield wrong(field, key, problem);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value));
  }
  if (bytes <= MAX_ANNOTATIONS) return;
  const message = `Too long: may not be more than ${MAX_ANNOTATIONS} bytes`;
  yield { reason: "FieldValueTooLong", message, field };
}

/** What is wrong with the key of a label or an annotation, or with a finalizer. */
export function* keyProblems(key: string): Generator<string> {
  const [name = "", prefix, more] = key.split("/").reverse();
  if (more !== undefined) {
    yield `a valid label key ${LETTERS_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
    return;
  }
  if (prefix === "") yield "prefix part must be non-empty";
  else if (prefix !== undefined)
    for (const problem of subdomainProblems(prefix, "bytes")) yield `prefix part ${problem}`;
  if (name === "") yield "name part must be non-empty";
  else if (name.length > 63) yield `name part ${TOO_LONG}`;
  if (!PART.test(name)) yield `name part ${LETTERS_RULE}`;
}

function* subdomainProblems(name: string, unit: "bytes" | "characters"): Generator<string> {
  if (name.length > 253) yield `must be no more than 253 ${unit}`;
  if (!name.split(".").every((part) => LABEL.test(part))) yield NAME_RULE;
}

function* finalizerCauses(finalizers: readonly string[], path: string): Generator<Cause> {
  for (const finalizer of finalizers)
    for (const problem of keyProblems(finalizer)) yield wrong(path, finalizer, problem);
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion"))
    yield wrong(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
}

/** Warnings about finalizers that another party could have chosen as well. */
export function finalizerWarnings(
  { isBuiltIn }: NameRules,
  old: JsonObject | undefined,
  object: JsonObject,
): string[] {
  if (isBuiltIn) return [];
  const had = old === undefined ? [] : stringsOf(metadataOf(old)["finalizers"]);
  return [...new Set(stringsOf(metadataOf(object)["finalizers"]))]
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

function* nameCauses(
  { isBuiltIn, kind }: NameRules,
  { name, generateName }: JsonObject,
): Generator<Cause> {
  const isFree = isBuiltIn && FREE_NAMES.has(kind);
  if (typeof generateName === "string" && generateName !== "" && !isFree) {
    // The letters that follow replace a dash at the end.
    const prefix = generateName.replace(/.-$/, "a");
    for (const problem of subdomainProblems(prefix, "characters"))
      yield wrong("metadata.generateName", generateName, problem);
  }
  if (typeof name !== "string" || name === "")
    yield required("metadata.name", "name or generateName is required");
  else if (!isFree)
    for (const problem of subdomainProblems(name, "characters"))
      yield wrong("metadata.name", name, problem);
}

function* labelCauses(labels: unknown, path: string): Generator<Cause> {
  for (const [label, value] of entriesOf(labels)) {
    for (const problem of keyProblems(label)) yield wrong(path, label, problem);
    const text = String(value);
    for (const problem of valueProblems(text)) yield wrong(path, text, problem);
  }
}

/** What is wrong with the value of a label. */
export function* valueProblems(value: string): Generator<string> {
  if (value.length > 63) yield TOO_LONG;
  if (!VALUE.test(value)) yield VALUE_RULE;
}

function* ownerCauses(owners: readonly JsonObject[], path: string): Generator<Cause> {
  let controller: string | undefined;
  for (const owner of owners) {
    yield* causesOfOwner(owner, path);
    if (owner["controller"] !== true) continue;
    const { kind = "", name = "" } = owner;
    const found = `${kind}/${name}`;
    if (controller !== undefined)
      yield ofOwners(
        path,
        owners.map(ownerValue),
        `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${found}`,
      );
    controller ??= found;
  }
}

function* causesOfOwner(owner: JsonObject, path: string): Generator<Cause> {
  const { apiVersion = "", kind } = owner;
  if (!/^([^/]*\/)?[^/]+$/.test(String(apiVersion)))
    yield wrong(`${path}.apiVersion`, apiVersion, "version must not be empty");
  for (const field of ["kind", "name", "uid"])
    if (!owner[field]) yield wrong(`${path}.${field}`, "", "must not be empty");
  if (apiVersion === "v1" && kind === "Event")
    yield ofOwners(path, ownerValue(owner), "/v1, Kind=Event is disallowed from being an owner");
}

function ofOwners(field: string, value: unknown, problem: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${problem}`;
  return { reason: "FieldValueInvalid", message, field };
}

/** An owner with its fields in the order of their type in Go. */
function ownerValue({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
}: JsonObject): object {
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}

/** The warning about owners that are twice. */
export function ownerWarnings(object: JsonObject, verb: string): string[] {
  const { ownerReferences: owners } = metadataOf(object);
  if (!Array.isArray(owners)) return [];
  const twice = owners.filter(
    (owner, index) => owners.findIndex((one) => isEqual(one, owner)) !== index,
  );
  if (twice.length === 0) return [];
  const when = verb === "patch" ? " after mutating admission happens" : "";
  const uids = twice.map((owner) => String(isObject(owner) ? owner["uid"] : "")).join(", ");
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
  ];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}
