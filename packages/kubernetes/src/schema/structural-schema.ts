import {
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
  without,
} from "@holdfast/kit/kubernetes";
import { intersect, unite } from "./combine.ts";
import { schemaError } from "./schema-error.ts";
import { anything, enumOf, isAnything, numberRules, textRules } from "./values.ts";

/** The schema in translation. */
interface Place {
  /** Path of the field, for errors. */
  readonly path: string;

  /** The whole schema, to which a `$ref` refers. */
  readonly root: JsonObject;

  /** References on the way here. */
  readonly refs: readonly string[];
}

/**
 * The structural schema, as a CustomResourceDefinition has it, of a JSON schema: of draft 7, of draft 2020-12 or
 * of OpenAPI 3.0.
 *
 * @param path - of the field, for errors
 * @throws RangeError with path, reason and remedy for a schema that Kubernetes cannot express
 */
export function structuralSchema(schema: JsonObject, path: string): JsonObject {
  return withNulls(translate(schema, { path, root: schema, refs: [] }));
}

/**
 * Moves each `enum` beside `nullable` into `allOf`: a server compares null with the values of `enum`, and finds it
 * not even where it is one, but it does not look into `allOf` for null.
 */
function withNulls(schema: JsonObject): JsonObject {
  const { enum: all, ...others } = schema;
  const isMoved = schema["nullable"] === true && all !== undefined;
  const result = isMoved
    ? { ...others, allOf: [...listIn(others, "allOf"), { enum: all }] }
    : schema;
  const { properties, items, additionalProperties } = result;
  return {
    ...result,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withNulls(field as JsonObject)]),
      ),
    }),
    ...(isObject(items) && { items: withNulls(items) }),
    ...(isObject(additionalProperties) && {
      additionalProperties: withNulls(additionalProperties),
    }),
  };
}

function listIn(schema: JsonObject, name: string): unknown[] {
  const found = schema[name];
  return Array.isArray(found) ? found : [];
}

/** Keywords that restrict values and that no structural schema has, with the remedy. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  patternProperties: "use a record, and a rule for its keys",
  dependentRequired: "write a rule",
  dependentSchemas: "write a rule",
  dependencies: "write a rule",
  if: "write a rule",
  contains: "write a rule",
  unevaluatedProperties: "leave it out: a server removes unknown fields",
  unevaluatedItems: "use a list of one type",
  prefixItems: "use an object with a field for each item",
  additionalItems: "use an object with a field for each item",
};

const COMBINATIONS = ["$ref", "allOf", "anyOf", "oneOf", "not"] as const;

/** Keywords that a schema may have beside a combination without a type of its own. */
const NOTES = ["description", "default", "examples", "example"] as const;

function translate(given: unknown, place: Place): JsonObject {
  if (given === true) return anything();
  if (!isObject(given) || isNever(given))
    throw schemaError(place.path, "it allows no value", "leave the field out");
  for (const [keyword, remedy] of Object.entries(FORBIDDEN))
    if (Object.hasOwn(given, keyword))
      throw schemaError(place.path, `Kubernetes has no ${keyword}`, remedy);
  const parts = combinations(given, place);
  const rest = without(given, ...COMBINATIONS);
  if (parts.length === 0) return plain(rest, place);
  if (hasType(rest)) parts.unshift(plain(rest, place));
  return { ...parts.reduce((all, one) => intersect(all, one, place.path)), ...notesOf(rest) };
}

function hasType(schema: JsonObject): boolean {
  return ["type", "properties", "items", "additionalProperties", "enum", "const"].some((name) =>
    Object.hasOwn(schema, name),
  );
}

/** What a schema says by its references and combinations, each as a structural schema. */
function combinations(schema: JsonObject, place: Place): JsonObject[] {
  const { path } = place;
  const { $ref, not } = schema;
  const parts: JsonObject[] = [];
  if (typeof $ref === "string") parts.push(follow($ref, place));
  for (const one of members(schema, "allOf")) parts.push(translate(one, place));
  for (const keyword of ["anyOf", "oneOf"] as const)
    if (Array.isArray(schema[keyword])) parts.push(union(members(schema, keyword), place));
  if (not !== undefined)
    throw schemaError(path, "Kubernetes checks no not", "write a rule such as \"self != 'x'\"");
  return parts;
}

/** The members of a combination, each with the type that stands beside it. */
function members(schema: JsonObject, keyword: "allOf" | "anyOf" | "oneOf"): unknown[] {
  const given = schema[keyword];
  if (!Array.isArray(given)) return [];
  const { type } = schema;
  const names = ["type", "const", "enum", "$ref", "allOf", "anyOf", "oneOf"];
  return given.map((one: unknown) =>
    type !== undefined && isObject(one) && !names.some((name) => Object.hasOwn(one, name))
      ? { type, ...(type === "object" && { properties: {} }), ...one }
      : one,
  );
}

function union(given: readonly unknown[], place: Place): JsonObject {
  const all = given.filter((one) => !isNever(one) && !isNull(one));
  const united = unite(
    all.map((one) => translate(one, place)),
    place.path,
  );
  return given.some(isNull) ? { ...united, nullable: true } : united;
}

/** The schema of a reference within the whole schema. */
function follow(ref: string, place: Place): JsonObject {
  const { path, root, refs } = place;
  if (refs.includes(ref))
    throw schemaError(path, `it contains itself (${ref})`, "allow any value where it repeats");
  if (!ref.startsWith("#"))
    throw schemaError(path, `${ref} is no reference within it`, "put the schema in its place");
  const names = ref.split("/").slice(1).map(decodeName);
  const target = names.reduce<unknown>((at, name) => (isObject(at) ? own(at, name) : at), root);
  if (target === undefined)
    throw schemaError(path, `${ref} refers to nothing`, "put the schema in its place");
  return translate(target, { ...place, refs: [...refs, ref] });
}

function decodeName(name: string): string {
  return decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
}

function isNever(schema: unknown): boolean {
  return (
    schema === false || (isObject(schema) && isObject(schema["not"]) && isEmpty(schema["not"]))
  );
}

function isNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, const: only, enum: all } = schema;
  const isOnlyNull = Array.isArray(all) && all.length === 1 && all[0] === null;
  return type === "null" || only === null || isOnlyNull;
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}

/** A schema without references and combinations. */
function plain(schema: JsonObject, place: Place): JsonObject {
  const { types, isNullable } = typesOf(schema, place);
  const each = types.map((type) => ({ ...schema, type }));
  return {
    ...(types.length > 1 ? union(each, place) : typed(schema, types[0], place)),
    ...(isNullable && { nullable: true }),
    ...notesOf(schema),
    ...extensionsOf(schema),
  };
}

/** The types of a schema, as it says or as its keywords tell, and whether it allows null. */
function typesOf(schema: JsonObject, { path }: Place): { types: string[]; isNullable: boolean } {
  const { type, nullable, enum: all } = schema;
  const given = Array.isArray(type) ? type.map(String) : [String(type ?? typeFrom(schema, path))];
  const isNullable =
    nullable === true || given.includes("null") || (Array.isArray(all) && all.includes(null));
  const types = given.filter((one) => one !== "null");
  if (types.length === 0) throw schemaError(path, "it allows only null", "leave the field out");
  return { types, isNullable };
}

function typeFrom(schema: JsonObject, path: string): string {
  if (Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const"))
    return enumOf(schema, path).type;
  if (
    ["properties", "additionalProperties", "required"].some((name) => Object.hasOwn(schema, name))
  )
    return "object";
  return Object.hasOwn(schema, "items") ? "array" : "any";
}

function typed(schema: JsonObject, type: string | undefined, place: Place): JsonObject {
  const { path } = place;
  if (schema["x-kubernetes-int-or-string"] === true)
    return { ...textRules(schema, path), ...numberRules({ ...schema, type: "any" }, path) };
  switch (type) {
    case "any":
      return anything();
    case "object":
      return { type, ...objectRules(schema, place) };
    case "array":
      return { type, ...listRules(schema, place) };
    case "string":
      return { type, ...textRules(schema, path), ...enumRules(schema, path) };
    case "integer":
    case "number":
      return { type, ...numberRules(schema, path), ...enumRules(schema, path) };
    case "boolean":
      return { type, ...enumRules(schema, path) };
    default:
      throw schemaError(path, `Kubernetes has no type ${type}`, "use a type of JSON");
  }
}

function enumRules(schema: JsonObject, path: string): JsonObject {
  const isGiven = Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const");
  return isGiven ? { enum: enumOf(schema, path).values } : {};
}

function objectRules(schema: JsonObject, place: Place): JsonObject {
  const { required } = schema;
  return {
    ...fieldRules(schema, place),
    ...pick(schema, ["minProperties", "maxProperties"]),
    ...(Array.isArray(required) && required.length > 0 && { required }),
  };
}

/** The fields with a name, those of a record, or any. */
function fieldRules(schema: JsonObject, place: Place): JsonObject {
  const named = Object.entries(propertiesOf(schema))
    .filter(([, property]) => !isNever(property))
    .map(([name, property]) => [name, translate(property, below(place, name))] as const);
  const properties = named.length > 0 ? { properties: Object.fromEntries(named) } : {};
  const others = othersOf(schema, place);
  if (others === undefined) return properties;
  const keys = namedKeys(schema, place.path);
  if (keys) return { properties: Object.fromEntries(keys.map((name) => [name, others])) };
  if (isAnything(others)) return { ...properties, "x-kubernetes-preserve-unknown-fields": true };
  if (named.length > 0)
    throw schemaError(
      place.path,
      "Kubernetes has no named fields beside a record",
      "put the record into a field of its own",
    );
  return { additionalProperties: others };
}

/** The schema of fields without a name in the schema. Undefined: a server removes them. */
function othersOf(schema: JsonObject, place: Place): JsonObject | undefined {
  const { additionalProperties: others } = schema;
  // Without any field it is every object, and not the one without fields.
  if (others === undefined)
    return Object.hasOwn(schema, "properties") || schema["x-kubernetes-embedded-resource"] === true
      ? undefined
      : anything();
  return isNever(others) ? undefined : translate(others, below(place, "*"));
}

/** The names that a record may have, if its schema lists them. */
function namedKeys(schema: JsonObject, path: string): string[] | undefined {
  const keys = own(schema, "propertyNames");
  if (!isObject(keys)) return undefined;
  if (Array.isArray(keys["enum"])) return keys["enum"].map(String);
  const restricting = Object.keys(keys).filter((name) => name !== "type");
  if (restricting.length > 0)
    throw schemaError(
      path,
      `Kubernetes checks no names of fields (${restricting.join(", ")})`,
      "write a rule such as \"self.all(key, key.matches('^[a-z]+$'))\"",
    );
  return undefined;
}

function listRules(schema: JsonObject, place: Place): JsonObject {
  const { path } = place;
  if (Array.isArray(schema["items"]))
    throw schemaError(path, "Kubernetes has no tuples", "use an object with a field for each item");
  const items = translate(schema["items"] ?? true, { ...place, path: `${path}[]` });
  const isSet = schema["uniqueItems"] === true;
  if (isSet && (items["type"] === "object" || items["type"] === "array" || isAnything(items)))
    throw schemaError(
      path,
      "Kubernetes compares only texts, numbers and booleans of a set",
      "name the keys of its items in listKeys",
    );
  return {
    items,
    ...pick(schema, ["minItems", "maxItems"]),
    ...(isSet && { "x-kubernetes-list-type": "set" }),
  };
}

function notesOf(schema: JsonObject): JsonObject {
  const { examples, ...notes } = pick(schema, NOTES);
  const example = Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {};
  return { ...example, ...notes };
}

function extensionsOf(schema: JsonObject): JsonObject {
  const names = Object.keys(schema).filter((name) => name.startsWith("x-kubernetes-"));
  return pick(schema, names);
}

function below(place: Place, name: string): Place {
  return { ...place, path: `${place.path}.${name}` };
}
