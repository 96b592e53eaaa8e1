import { isObject, type JsonObject, own, propertiesOf } from "../json.ts";
import { cleanMetadata, unknownMetadata } from "../write/metadata.ts";

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
  return { value: shapeObject(schema, value, { path: "", unknown, keepsNulls }), unknown };
}

interface Place {
  readonly path: string;
  readonly unknown: string[];
  readonly keepsNulls: boolean;
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
  const { path, unknown, keepsNulls } = place;
  const isEmbedded = own(schema, EMBEDDED) === true;
  const properties = fieldsOf(schema);
  const others = own(schema, "additionalProperties");
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const known = own(properties, name) ?? others;
    const at = path === "" ? name : `${path}.${name}`;
    const isNamed = isObject(own(propertiesOf(schema), name));
    if (isEmbedded && name === "metadata" && !(member === null && isNamed && keepsNulls)) {
      // A null is nothing for a schema that names the field, and an empty object otherwise.
      if (member === null && isNamed) return [];
      unknown.push(...unknownMetadata(value).map((field) => `${path}.${field}`));
      return [[name, cleanMetadata(value)]];
    }
    if (isObject(known)) {
      const filled = withDefault(known, member);
      const given = filled === undefined && keepsNulls ? member : filled;
      return given === undefined ? [] : [[name, shape(known, given, { ...place, path: at })]];
    }
    if (keepsUnknown(schema)) return [[name, member]];
    unknown.push(at);
    return [];
  });
  const result = Object.fromEntries(kept);
  return { ...result, ...defaultsFor(properties, result) };
}

const EMBEDDED = "x-kubernetes-embedded-resource";

const TEXT: JsonObject = { type: "string" };

/** The properties of a schema: those of every object of Kubernetes too, for one that is embedded. */
function fieldsOf(schema: JsonObject): JsonObject {
  if (own(schema, EMBEDDED) !== true) return propertiesOf(schema);
  return { apiVersion: TEXT, kind: TEXT, metadata: { type: "object" }, ...propertiesOf(schema) };
}

/** The objects within a value that are embedded, with their paths. */
export function* embeddedObjects(
  schema: JsonObject,
  value: unknown,
  path = "",
): Generator<readonly [object: JsonObject, path: string]> {
  const items = own(schema, "items");
  if (Array.isArray(value) && isObject(items))
    for (const [index, item] of value.entries())
      yield* embeddedObjects(items, item, `${path}[${index}]`);
  if (!isObject(value)) return;
  if (own(schema, EMBEDDED) === true) yield [value, path];
  const properties = propertiesOf(schema);
  const others = own(schema, "additionalProperties");
  for (const [name, member] of Object.entries(value)) {
    const known = own(properties, name);
    if (isObject(known))
      yield* embeddedObjects(known, member, path === "" ? name : `${path}.${name}`);
    else if (isObject(others)) yield* embeddedObjects(others, member, `${path}[${name}]`);
  }
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
      }),
    ]),
  );
}

/** A null where none is allowed is the default, or nothing. */
function withDefault(schema: JsonObject, value: unknown): unknown {
  if (value !== null || own(schema, "nullable") === true) return value;
  return structuredClone(own(schema, "default"));
}
