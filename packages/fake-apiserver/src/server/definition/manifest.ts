// The rules of a server for the rest of a CustomResourceDefinition: names, versions, paths.
import { isObject, type JsonObject, metadataOf, own, propertiesOf } from "../../object/json.ts";

const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const STEPS = /^(\.[^.[\]]+)+$/;
const SCALARS: readonly unknown[] = ["string", "boolean", "integer"];
const COLUMN_TYPES: readonly unknown[] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: readonly unknown[] = [
  ...["byte", "date", "date-time", "double", "float", "int32", "int64", "password"],
];

/** The rules that the manifest of a resource breaks, besides those of its schema. */
export function* manifestProblems(crd: object, versionName: string): Generator<string> {
  const spec = own(crd as JsonObject, "spec");
  if (!isObject(spec)) return;
  yield* nameProblems(spec);
  const { name, annotations } = metadataOf(crd as JsonObject);
  yield* approvalProblems(String(spec["group"]), annotations);
  const wanted = `${textOf(spec["names"], "plural")}.${spec["group"]}`;
  if (name !== undefined && name !== wanted)
    yield `metadata.name must be ${JSON.stringify(wanted)}, got ${JSON.stringify(name)}`;
  if (spec["preserveUnknownFields"] === true) yield "spec.preserveUnknownFields cannot be true";
  yield* conversionProblems(spec["conversion"]);
  const versions = listOf(spec["versions"]);
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    yield "spec.versions must have exactly one version with storage: true";
  for (const [index, { name }] of versions.entries())
    if (versions.findIndex((one) => one["name"] === name) < index)
      yield `spec.versions[${index}].name: ${JSON.stringify(name)} is there twice`;
  const version = versions.find(({ name }) => name === versionName);
  if (version !== undefined) yield* versionProblems(version);
}

function* nameProblems(spec: JsonObject): Generator<string> {
  const { names } = spec;
  if (!isObject(names)) return;
  const { kind, listKind, singular, shortNames, categories } = names;
  if (listKind === kind) yield "spec.names.listKind must not be the kind";
  const labels = { singular, shortNames, categories };
  for (const [name, value] of Object.entries(labels))
    for (const label of [value ?? []].flat())
      if (!LABEL.test(String(label)))
        yield `spec.names.${name} must be lower case letters, digits and dashes, got ${JSON.stringify(label)}`;
  const group = String(spec["group"]);
  if (!group.includes(".")) yield `spec.group must have a dot, got ${JSON.stringify(group)}`;
}

/** Groups of Kubernetes itself need a sign that their API was reviewed. */
function* approvalProblems(group: string, annotations: unknown): Generator<string> {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  const approval = textOf(annotations, APPROVED);
  const isApproved =
    typeof approval === "string" && (approval.startsWith("unapproved") || URL.canParse(approval));
  if (!isApproved)
    yield `metadata.annotations[${JSON.stringify(APPROVED)}] must name the approval of the group ${JSON.stringify(group)}: an address, or a text that begins with "unapproved"`;
}

const APPROVED = "api-approved.kubernetes.io";

function* conversionProblems(conversion: unknown): Generator<string> {
  if (!isObject(conversion)) return;
  const { strategy, webhook } = conversion;
  if (strategy !== "None" && strategy !== "Webhook")
    yield `spec.conversion.strategy must be None or Webhook, got ${JSON.stringify(strategy)}`;
  if ((strategy === "Webhook") !== isObject(webhook))
    yield "spec.conversion.webhook belongs to the strategy Webhook";
}

function* versionProblems(version: JsonObject): Generator<string> {
  const at = `version ${version["name"]}:`;
  const found = own(isObject(version["schema"]) ? version["schema"] : {}, "openAPIV3Schema");
  if (!isObject(found)) {
    yield `${at} schema.openAPIV3Schema is missing`;
    return;
  }
  yield* deprecationProblems(version, at);
  yield* selectableProblems(version["selectableFields"], found, at);
  for (const column of listOf(version["additionalPrinterColumns"]))
    yield* columnProblems(column, at);
  const subresources = version["subresources"];
  if (isObject(subresources) && isObject(subresources["scale"]))
    yield* scaleProblems(subresources["scale"], at);
}

function* deprecationProblems(
  { deprecated, deprecationWarning: text }: JsonObject,
  at: string,
): Generator<string> {
  if (text === undefined || text === null) return;
  if (deprecated !== true) yield `${at} deprecationWarning belongs to deprecated: true`;
  const { length } = String(text);
  if (length === 0 || length > 256) yield `${at} deprecationWarning must have 1 to 256 characters`;
}

function* selectableProblems(fields: unknown, schema: JsonObject, at: string): Generator<string> {
  const paths = listOf(fields).map(({ jsonPath }) => String(jsonPath));
  if (paths.length > 8) yield `${at} selectableFields must have at most 8 entries`;
  for (const [index, path] of paths.entries()) {
    const field = `${at} selectableFields[${index}].jsonPath`;
    const target = path.startsWith(".metadata") ? undefined : schemaAt(schema, path);
    if (paths.indexOf(path) < index) yield `${field}: ${JSON.stringify(path)} is there twice`;
    else if (!STEPS.test(path) || target === undefined)
      yield `${field}: ${JSON.stringify(path)} names no field of the schema`;
    else if (!SCALARS.includes(target["type"]))
      yield `${field}: ${JSON.stringify(path)} must name a string, a boolean or an integer`;
  }
}

function schemaAt(schema: JsonObject, path: string): JsonObject | undefined {
  let found: unknown = schema;
  for (const name of path.split(".").slice(1))
    found = isObject(found) ? own(propertiesOf(found), name) : undefined;
  return isObject(found) ? found : undefined;
}

function* columnProblems(column: JsonObject, at: string): Generator<string> {
  const { name, type, format, jsonPath } = column;
  const field = `${at} additionalPrinterColumns:`;
  if (!name) yield `${field} a name is missing`;
  if (!COLUMN_TYPES.includes(type))
    yield `${field} type must be one of ${COLUMN_TYPES.join(", ")}, got ${JSON.stringify(type)}`;
  if (format && !COLUMN_FORMATS.includes(format))
    yield `${field} format must be one of ${COLUMN_FORMATS.join(", ")}, got ${JSON.stringify(format)}`;
  if (!String(jsonPath).startsWith("."))
    yield `${field} jsonPath must begin with a dot, got ${JSON.stringify(jsonPath)}`;
}

function* scaleProblems(scale: JsonObject, at: string): Generator<string> {
  const parts = {
    specReplicasPath: [".spec."],
    statusReplicasPath: [".status."],
    labelSelectorPath: [".spec.", ".status."],
  };
  for (const [name, starts] of Object.entries(parts)) {
    const path = own(scale, name);
    if (name === "labelSelectorPath" && !path) continue;
    if (!starts.some((start) => String(path).startsWith(start)))
      yield `${at} subresources.scale.${name} must be a path below ${starts.join(" or ")}, got ${JSON.stringify(path)}`;
  }
}

function textOf(value: unknown, name: string): unknown {
  return isObject(value) ? own(value, name) : undefined;
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
