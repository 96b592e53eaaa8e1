import { fromRe2, PatternError } from "../schema/re2.ts";
import { ruleProblems } from "./cel/rules.ts";
import { isObject, type JsonObject, own, propertiesOf } from "./json.ts";
import type { ServedResource } from "./served-resource.ts";

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
const REFUSED: ReadonlySet<string> = new Set([
  ...[
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
  ],
]);

/**
 * Checks the manifest of a resource as far as FakeApi depends on it.
 *
 * @param name - of the resource, for errors
 * @returns a text for each part that FakeApi ignores
 * @throws RangeError for a manifest that a server refuses
 */
export function checkCrd(served: ServedResource, name: string): string[] {
  const { schema, kind, resource } = served;
  const warnings = [...partWarnings(resource.crd)];
  if (schema !== undefined) {
    for (const problem of schemaProblems(schema, "", warnings))
      throw new RangeError(
        `${name}: a server refuses the CustomResourceDefinition of ${kind}: ${problem}`,
      );
    for (const { path, rule, problem } of ruleProblems(schema))
      throw new RangeError(
        `${name}: a server refuses the CustomResourceDefinition of ${kind}: the rule ${JSON.stringify(rule)} of ${path || "the object"}: ${problem}`,
      );
  }
  return warnings.map((text) => `${text}, in the CustomResourceDefinition of ${kind}`);
}

function* partWarnings(crd: object | undefined): Generator<string> {
  const spec = crd && own(crd as JsonObject, "spec");
  const conversion = isObject(spec) ? own(spec, "conversion") : undefined;
  if (isObject(conversion) && conversion["strategy"] === "Webhook")
    yield "conversion by a webhook is ignored: objects keep their fields in every version";
}

/** Fields of a schema that a server refuses, with their paths. */
function* schemaProblems(schema: JsonObject, path: string, warnings: string[]): Generator<string> {
  const at = (part: string): string => (path === "" ? part : `${path}.${part}`);
  for (const field of Object.keys(schema)) {
    if (REFUSED.has(field)) yield `${at(field)} is not supported`;
    else if (!KNOWN.has(field))
      warnings.push(`${at(field)} is no field of a schema, and is ignored`);
  }
  if (own(schema, "uniqueItems") === true) yield `${at("uniqueItems")} cannot be true`;
  const { pattern } = schema;
  if (typeof pattern === "string") yield* patternProblems(pattern, at("pattern"));
  for (const [part, below] of partsOf(schema)) yield* schemaProblems(below, at(part), warnings);
}

function* patternProblems(pattern: string, path: string): Generator<string> {
  try {
    fromRe2(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    yield `${path}: ${error.message}`;
  }
}

/** The schemas within a schema, with their names. */
function partsOf(schema: JsonObject): [string, JsonObject][] {
  const named = Object.entries(propertiesOf(schema));
  const listed = ["allOf", "anyOf", "oneOf"].flatMap((field) => {
    const members = own(schema, field);
    return Array.isArray(members)
      ? members.map((one, index): [string, unknown] => [`${field}[${index}]`, one])
      : [];
  });
  const single = ["items", "additionalProperties", "not"].map((field): [string, unknown] => [
    field,
    own(schema, field),
  ]);
  return [...named, ...listed, ...single].filter((part): part is [string, JsonObject] =>
    isObject(part[1]),
  );
}
