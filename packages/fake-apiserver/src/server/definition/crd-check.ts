import { fromRe2, PatternError } from "@holdfast/kit/kubernetes";
import { ruleProblems } from "../../crd-rules/cel/rules.ts";
import { isEqual, isObject, type JsonObject, own, propertiesOf } from "../../object/json.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import { schemaFindings, specFindings } from "./known-fields.ts";
import { manifestProblems } from "./manifest.ts";
import { type Place, structureProblems } from "./structure.ts";

/** Fields of a schema that FakeApi checks, fills in, or that say nothing about values. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["type", "format", "title", "description", "default", "example", "externalDocs", "enum"],
  ...["maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "multipleOf"],
  ...[
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
  ],
  ...["required", "items", "allOf", "oneOf", "anyOf", "not", "properties", "additionalProperties"],
  ...["nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"],
  ...["x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type"],
  ...["x-kubernetes-map-type", "x-kubernetes-validations", "uniqueItems"],
]);

/** Fields of a schema that a server refuses. */
const REFUSED: ReadonlySet<string> = new Set(
  "id $schema $ref patternProperties dependencies additionalItems definitions".split(" "),
);

/**
 * Checks the manifest of a resource as far as FakeApi depends on it.
 *
 * @param name - of the resource, for errors
 * @returns a text for each part that FakeApi ignores
 * @throws RangeError for a manifest that a server refuses
 */
export function checkCrd(served: ServedResource, name: string): string[] {
  const { kind } = served;
  const warnings = [...partWarnings(served)];
  for (const problem of problemsOf(served, warnings))
    throw new RangeError(
      `${name}: a server refuses the CustomResourceDefinition of ${kind}: ${problem}`,
    );
  return warnings.map((text) => `${text}, in the CustomResourceDefinition of ${kind}`);
}

/** Each reason for which a server refuses a manifest. Rules are read last: they need a schema that holds. */
function* problemsOf(
  { schema, resource: { crd }, version }: ServedResource,
  warnings: string[],
): Generator<string> {
  if (crd !== undefined) {
    yield* refusedOf(specFindings(crd), warnings);
    yield* manifestProblems(crd, version);
  }
  if (schema === undefined) return;
  yield* schemaProblems(schema, "", "root", warnings);
  for (const { path, rule, problem } of ruleProblems(schema))
    yield `the rule ${JSON.stringify(rule)} of ${path || "the object"}: ${problem}`;
}

/** The findings for which a server refuses a manifest. The others become warnings. */
function* refusedOf(
  findings: ReturnType<typeof specFindings>,
  warnings: string[],
): Generator<string> {
  for (const { isRefused, text } of findings)
    if (isRefused) yield text;
    else warnings.push(text);
}

function* partWarnings({ resource: { crd }, convert }: ServedResource): Generator<string> {
  const spec = crd && own(crd as JsonObject, "spec");
  const conversion = isObject(spec) ? own(spec, "conversion") : undefined;
  if (isObject(conversion) && conversion["strategy"] === "Webhook" && convert === undefined)
    yield "conversion by a webhook is ignored: objects keep their fields in every version";
}

/** What a server refuses in a schema and in those within it, with their paths. */
function* schemaProblems(
  schema: JsonObject,
  path: string,
  place: Place,
  warnings: string[],
): Generator<string> {
  const at = (part: string): string => (path === "" ? part : `${path}.${part}`);
  for (const field of Object.keys(schema).filter((one) => !KNOWN.has(one) && !REFUSED.has(one)))
    warnings.push(`${at(field)} is no field of a schema, and is ignored`);
  // A server reads an empty value of them as none.
  for (const field of REFUSED)
    if (isFilled(own(schema, field))) yield `${at(field)} is not supported`;
  yield* refusedOf(schemaFindings(schema, at), warnings);
  if (own(schema, "uniqueItems") === true) yield `${at("uniqueItems")} cannot be true`;
  const { pattern } = schema;
  if (typeof pattern === "string") yield* patternProblems(pattern, at("pattern"));
  for (const [part, below, isMember] of partsOf(schema)) {
    const isWithin = place === "combination" || isMember;
    yield* schemaProblems(below, at(part), isWithin ? "combination" : "field", warnings);
  }
  yield* structureProblems(schema, place, at);
}

function isFilled(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function* patternProblems(pattern: string, path: string): Generator<string> {
  try {
    fromRe2(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    yield `${path}: ${error.message}`;
  }
}

/** The schemas within a schema, with their names, and whether they are members of a combination. */
function partsOf(schema: JsonObject): [string, JsonObject, boolean][] {
  const named = Object.entries(propertiesOf(schema)).map(partOf(false));
  const below = ["items", "additionalProperties"].map((field) => [field, own(schema, field)]);
  const members = ["allOf", "anyOf", "oneOf"].flatMap((field) => {
    const list = own(schema, field);
    // A server lets this one pass.
    if (!Array.isArray(list) || (field === "anyOf" && isEqual(list, EITHER))) return [];
    return list.map((one, index) => [`${field}[${index}]`, one]);
  });
  return [
    ...named,
    ...(below as [string, unknown][]).map(partOf(false)),
    ...([...members, ["not", own(schema, "not")]] as [string, unknown][]).map(partOf(true)),
  ].filter((part): part is [string, JsonObject, boolean] => isObject(part[1]));
}

const EITHER = [{ type: "integer" }, { type: "string" }];

function partOf(isMember: boolean) {
  return ([name, schema]: [string, unknown]): [string, unknown, boolean] => [
    name,
    schema,
    isMember,
  ];
}
