// The rules of a server for the schema of a CustomResourceDefinition: it has to be structural.

import { ruleCauses } from "../../crd-rules/cel/rules.ts";
import { schemaCauses } from "../../crd-rules/validation/check-schema.ts";
import { applySchema, embeddedObjects } from "../../crd-rules/validation/schema.ts";
import { isObject, type JsonObject, own, propertiesOf, stringsOf } from "../../object/json.ts";
import { embeddedCauses } from "../../object/metadata-causes.ts";

/** Where a schema stands: that of the object, of one of its fields, or in `allOf`, `anyOf`, `oneOf` or `not`. */
export type Place = "root" | "field" | "combination";

/** Types of the fields of a schema in Go. */
const FIELDS: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  [
    "maxLength minLength maxItems minItems maxProperties minProperties",
    Number.isInteger,
    "an integer",
  ],
  ["maximum minimum multipleOf", (value) => typeof value === "number", "a number"],
  [
    "exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string",
    (value) => typeof value === "boolean",
    "a boolean",
  ],
  [
    "type format pattern title description x-kubernetes-list-type x-kubernetes-map-type",
    (value) => typeof value === "string",
    "a text",
  ],
  [
    "required x-kubernetes-list-map-keys",
    (value) => Array.isArray(value) && stringsOf(value).length === value.length,
    "a list of texts",
  ],
  ["enum allOf anyOf oneOf x-kubernetes-validations", Array.isArray, "a list"],
  ["properties items not", isObject, "an object"],
];

const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** Fields that no member of a combination may have: what a value is stands outside of it. */
const OUTSIDE: readonly string[] = [
  ...["type", "description", "title", "default", "nullable", "additionalProperties"],
  ...["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"],
  ...["x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"],
  ...["x-kubernetes-map-type", "x-kubernetes-validations"],
];

/**
 * The rules that a schema breaks, without those for the schemas within it.
 *
 * @param at - the path of a field of the schema
 */
export function* structureProblems(
  schema: JsonObject,
  place: Place,
  at: (field: string) => string,
): Generator<string> {
  yield* fieldProblems(schema, at);
  if (place === "combination") {
    for (const name of OUTSIDE)
      if (own(schema, name)) yield `${at(name)} must stand outside of allOf, anyOf, oneOf and not`;
    return;
  }
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  yield* typeProblems(schema, place, at);
  yield* openProblems(schema, at);
  if (place === "root") yield* rootProblems(schema, at);
  if (isEmbedded) yield* embeddedProblems(schema, at);
  if (place === "root" || isEmbedded) yield* objectProblems(schema, at);
  yield* listProblems(schema, at);
  yield* defaultProblems(schema, at);
}

function* fieldProblems(schema: JsonObject, at: At): Generator<string> {
  for (const [names, isRight, type] of FIELDS)
    for (const name of names.split(" ")) {
      const value = own(schema, name) ?? undefined;
      if (value !== undefined && !isRight(value))
        yield `${at(name)} must be ${type}, got ${JSON.stringify(value)}`;
    }
}

type At = (field: string) => string;

function* typeProblems(schema: JsonObject, place: Place, at: At): Generator<string> {
  const type = own(schema, "type") || undefined;
  const isFree = isOpen(schema) || schema["x-kubernetes-int-or-string"] === true;
  if (type === undefined && (place === "root" || !isFree)) yield `${at("type")} is missing`;
  yield* oneOf(type, TYPES, at("type"));
  if (type === "array" && !isObject(own(schema, "items"))) yield `${at("items")} is missing`;
}

function* openProblems(schema: JsonObject, at: At): Generator<string> {
  const members = schema["additionalProperties"] ?? true;
  if (members !== true && Object.keys(propertiesOf(schema)).length > 0)
    yield `${at("additionalProperties")} excludes properties`;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    yield `${at("x-kubernetes-preserve-unknown-fields")} must be true or missing`;
}

function* embeddedProblems(schema: JsonObject, at: At): Generator<string> {
  if (schema["type"] !== "object") yield `${at("type")} of an embedded resource must be object`;
  if (!isOpen(schema) && Object.keys(propertiesOf(schema)).length === 0)
    yield `${at("properties")} of an embedded resource must not be empty without x-kubernetes-preserve-unknown-fields`;
}

function isOpen(schema: JsonObject): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true;
}

function* rootProblems(schema: JsonObject, at: At): Generator<string> {
  if (schema["type"] !== "object") yield `${at("type")} must be object at the root`;
  if (schema["nullable"] === true) yield `${at("nullable")} cannot be true at the root`;
  if (schema["additionalProperties"] !== undefined)
    yield `${at("additionalProperties")} cannot be set at the root`;
  const metadata = own(propertiesOf(schema), "metadata");
  if (isObject(metadata)) yield* metadataProblems(metadata, at);
}

function* metadataProblems(metadata: JsonObject, at: At): Generator<string> {
  if (metadata["default"] !== undefined) yield `${at("metadata")}.default must not be set`;
  for (const [name, one] of Object.entries(propertiesOf(metadata))) {
    if (name !== "name" && name !== "generateName")
      yield `${at("metadata")}.${name}: only name and generateName can be restricted`;
    if (isObject(one) && one["default"] !== undefined)
      yield `${at("metadata")}.${name}.default must not be set`;
  }
}

/** The fields that every object of Kubernetes has. */
function* objectProblems(schema: JsonObject, at: At): Generator<string> {
  const types = { apiVersion: "string", kind: "string", metadata: "object" };
  for (const [name, type] of Object.entries(types)) {
    const property = own(propertiesOf(schema), name);
    if (isObject(property) && property["type"] !== type) yield `${at(name)}.type must be ${type}`;
  }
}

function* listProblems(schema: JsonObject, at: At): Generator<string> {
  const { type, items, "x-kubernetes-list-type": listType } = schema;
  const { "x-kubernetes-map-type": mapType, "x-kubernetes-list-map-keys": keys } = schema;
  yield* oneOf(listType, ["atomic", "set", "map"], at("x-kubernetes-list-type"));
  yield* oneOf(mapType, ["atomic", "granular"], at("x-kubernetes-map-type"));
  if (listType !== undefined && type !== "array")
    yield `${at("type")} must be array if x-kubernetes-list-type is set`;
  if (mapType !== undefined && type !== "object")
    yield `${at("type")} must be object if x-kubernetes-map-type is set`;
  if (listType !== "map" && stringsOf(keys).length > 0)
    yield `${at("x-kubernetes-list-type")} must be map if x-kubernetes-list-map-keys is set`;
  if (!isObject(items)) return;
  if (listType === "set") yield* setProblems(items, at("items"));
  if (listType === "map") yield* keyedProblems(items, stringsOf(keys), at);
}

function* oneOf(value: unknown, allowed: readonly unknown[], field: string): Generator<string> {
  if (value !== undefined && !allowed.includes(value))
    yield `${field} must be one of ${allowed.join(", ")}, got ${JSON.stringify(value)}`;
}

function* setProblems(items: JsonObject, field: string): Generator<string> {
  if (items["nullable"] === true)
    yield `${field}.nullable cannot be true in a list of the type set`;
  if (items["type"] === "object" && items["x-kubernetes-map-type"] !== "atomic")
    yield `${field}.x-kubernetes-map-type must be atomic in a list of the type set`;
  if (items["type"] === "array" && (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic")
    yield `${field}.x-kubernetes-list-type must be atomic in a list of the type set`;
}

function* keyedProblems(items: JsonObject, keys: readonly string[], at: At): Generator<string> {
  const field = at("x-kubernetes-list-map-keys");
  if (keys.length === 0) yield `${field} must not be empty if x-kubernetes-list-type is map`;
  if (new Set(keys).size < keys.length) yield `${field} has an entry twice`;
  if (items["type"] !== "object") yield `${at("items")}.type must be object in a list with keys`;
  if (items["nullable"] === true)
    yield `${at("items")}.nullable cannot be true in a list of the type map`;
  for (const key of keys) {
    const property = own(propertiesOf(items), key);
    const isRequired = stringsOf(items["required"]).includes(key);
    if (isObject(property)) yield* keyProblems(property, isRequired, `${at("items")}.${key}`);
    else yield `${field}: ${JSON.stringify(key)} is no property of its items`;
  }
}

function* keyProblems(property: JsonObject, isRequired: boolean, name: string): Generator<string> {
  if (property["type"] === "object" || property["type"] === "array")
    yield `${name}.type must be a scalar, because it is a key`;
  if (property["nullable"] === true) yield `${name}.nullable cannot be true, because it is a key`;
  if (property["default"] === undefined && !isRequired)
    yield `${name} is a key: it must have a default or be required`;
}

function* defaultProblems(schema: JsonObject, at: At): Generator<string> {
  const value = own(schema, "default") ?? undefined;
  if (value === undefined) return;
  const object = { value };
  const wrapped = { type: "object", properties: { value: schema } };
  const { unknown } = applySchema(wrapped, object);
  if (unknown.length > 0) yield `${at("default")} has unknown fields: ${unknown.join(", ")}`;
  const causes = [...schemaCauses(schema, value, "")];
  for (const [embedded, path] of embeddedObjects(schema, value))
    causes.push(...embeddedCauses(embedded, path));
  const found = causes.length > 0 ? causes : ruleCauses(wrapped, object, undefined);
  for (const { message } of found) yield `${at("default")}: ${message}`;
}
