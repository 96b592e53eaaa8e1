import { isObject, type JsonObject, own, propertiesOf } from "../../object/json.ts";
import { cleanMetadata, unknownMetadata } from "../../object/metadata.ts";

/** A value as its schema has it. */
export interface Shaped {
  readonly value: JsonObject;

  /** Paths of the fields that the schema does not know, as in `spec.ports[0].unknown`. */
  readonly unknown: readonly string[];
}

/**
 * A copy of a value as its schema has it: fields that the schema does not know are removed, defaults are
 * filled in. Without a schema the value stays as it is.
 *
 * @param keepsNulls - whether a null that is not allowed stays, as in an apply, where it is refused. Otherwise it is
 * removed
 */
export function applySchema(
  schema: JsonObject | undefined,
  value: JsonObject,
  keepsNulls = false,
): Shaped {
  const unknown: string[] = [];
  if (schema === undefined) return { value, unknown };
  const place = { path: "", unknown, keepsNulls, fills: true };
  return { value: shapeObject(schema, value, place), unknown };
}

/** A copy of a value without the fields that the schema does not know. No default is filled in. */
export function prune(schema: JsonObject | undefined, value: JsonObject): JsonObject {
  if (schema === undefined) return value;
  return shapeObject(schema, value, { path: "", unknown: [], keepsNulls: true, fills: false });
}

interface Place {
  readonly path: string;
  readonly unknown: string[];
  readonly keepsNulls: boolean;
  /** Whether missing fields get their defaults. */
  readonly fills: boolean;
}

function shape(schema: JsonObject, value: unknown, place: Place): unknown {
  if (isObject(value)) return shapeObject(schema, value, place);
  const items = own(schema, "items");
  if (!Array.isArray(value) || !isObject(items)) return value;
  return value.map((item, index) =>
    shape(items, item, { ...place, path: `${place.path}[${index}]` }),
  );
}

function shapeObject(schema: JsonObject, value: JsonObject, place: Place): JsonObject {
  const isEmbedded = own(schema, EMBEDDED) === true;
  const kept = Object.keys(value).flatMap((name) =>
    isEmbedded && name === "metadata"
      ? shapeMetadata(schema, value, place)
      : shapeMember(schema, value, name, place),
  );
  const result = Object.fromEntries(kept);
  return place.fills ? { ...result, ...defaultsFor(fieldsOf(schema), result) } : result;
}

/** The metadata of an object that is embedded. */
function shapeMetadata(schema: JsonObject, value: JsonObject, place: Place): [string, unknown][] {
  // A null is nothing for a schema that names the field, and an empty object otherwise.
  if (value["metadata"] === null && isObject(own(propertiesOf(schema), "metadata")))
    return place.keepsNulls ? shapeMember(schema, value, "metadata", place) : [];
  place.unknown.push(...unknownMetadata(value).map((field) => `${place.path}.${field}`));
  return [["metadata", cleanMetadata(value)]];
}

function shapeMember(
  schema: JsonObject,
  value: JsonObject,
  name: string,
  place: Place,
): [string, unknown][] {
  const known = own(fieldsOf(schema), name) ?? own(schema, "additionalProperties");
  const path = place.path === "" ? name : `${place.path}.${name}`;
  const member = value[name];
  if (isObject(known)) {
    const filled = place.fills ? withDefault(known, member) : member;
    const given = filled === undefined && place.keepsNulls ? member : filled;
    return given === undefined ? [] : [[name, shape(known, given, { ...place, path })]];
  }
  if (keepsUnknown(schema)) return [[name, member]];
  place.unknown.push(path);
  return [];
}

const EMBEDDED = "x-kubernetes-embedded-resource";

const TEXT: JsonObject = { type: "string" };

/** The properties of a schema: those of every object of Kubernetes too, for one that is embedded. */
function fieldsOf(schema: JsonObject): JsonObject {
  if (own(schema, EMBEDDED) !== true) return propertiesOf(schema);
  return { apiVersion: TEXT, kind: TEXT, metadata: { type: "object" }, ...propertiesOf(schema) };
}

/** An item or a member of a value, with its own schema. */
interface Part {
  readonly name: string;
  readonly path: string;
  readonly schema: JsonObject;
  readonly value: unknown;
}

/** The parts of a value that its schema describes. */
export function* partsOf(schema: JsonObject, value: unknown, path: string): Generator<Part> {
  const items = own(schema, "items");
  if (Array.isArray(value) && isObject(items))
    for (const [index, item] of value.entries())
      yield { name: `${index}`, path: `${path}[${index}]`, schema: items, value: item };
  if (!isObject(value)) return;
  const others = own(schema, "additionalProperties");
  for (const [name, member] of Object.entries(value)) {
    const known = own(propertiesOf(schema), name);
    if (isObject(known))
      yield { name, path: path === "" ? name : `${path}.${name}`, schema: known, value: member };
    else if (isObject(others))
      yield { name, path: `${path}[${name}]`, schema: others, value: member };
  }
}

/** The objects within a value that are embedded, with their paths. */
export function* embeddedObjects(
  schema: JsonObject,
  value: unknown,
  path = "",
): Generator<readonly [object: JsonObject, path: string]> {
  if (isObject(value) && own(schema, EMBEDDED) === true) yield [value, path];
  for (const part of partsOf(schema, value, path))
    yield* embeddedObjects(part.schema, part.value, part.path);
}

/** Whether an object may have fields that the schema does not name. */
function keepsUnknown(schema: JsonObject): boolean {
  return (
    own(schema, "x-kubernetes-preserve-unknown-fields") === true ||
    own(schema, "additionalProperties") === true
  );
}

/** The defaults of the properties that a value does not have. */
function defaultsFor(properties: JsonObject, value: JsonObject): JsonObject {
  const missing = Object.entries(properties).filter(
    ([name, property]) =>
      !Object.hasOwn(value, name) && isObject(property) && "default" in property,
  ) as [string, JsonObject][];
  return Object.fromEntries(
    missing.map(([name, property]) => [
      name,
      shape(property, structuredClone(property["default"]), {
        path: name,
        unknown: [],
        keepsNulls: false,
        fills: true,
      }),
    ]),
  );
}

/** A null where none is allowed is the default, or nothing. */
function withDefault(schema: JsonObject, value: unknown): unknown {
  if (value !== null || own(schema, "nullable") === true) return value;
  return structuredClone(own(schema, "default"));
}
