import { isObject, type JsonObject, own, propertiesOf } from "../json.ts";

/** A value as its schema has it. */
export interface Shaped {
  readonly value: JsonObject;

  /** Paths of the fields that the schema does not know, as in `spec.ports[0].unknown`. */
  readonly unknown: readonly string[];
}

/**
 * A copy of a value as its schema has it: fields that the schema does not know are removed, defaults are
 * filled in. Without a schema the value stays as it is.
 */
export function applySchema(schema: JsonObject | undefined, value: JsonObject): Shaped {
  const unknown: string[] = [];
  if (schema === undefined) return { value, unknown };
  return { value: shapeObject(schema, value, { path: "", unknown }), unknown };
}

interface Place {
  readonly path: string;
  readonly unknown: string[];
}

function shape(schema: JsonObject, value: unknown, { path, unknown }: Place): unknown {
  if (isObject(value)) return shapeObject(schema, value, { path, unknown });
  const items = own(schema, "items");
  if (!Array.isArray(value) || !isObject(items)) return value;
  return value.map((item, index) => shape(items, item, { path: `${path}[${index}]`, unknown }));
}

function shapeObject(schema: JsonObject, value: JsonObject, { path, unknown }: Place): JsonObject {
  const properties = propertiesOf(schema);
  const others = own(schema, "additionalProperties");
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const known = own(properties, name) ?? others;
    const at = path === "" ? name : `${path}.${name}`;
    if (isObject(known)) {
      const given = withDefault(known, member);
      return given === undefined ? [] : [[name, shape(known, given, { path: at, unknown })]];
    }
    if (keepsUnknown(schema)) return [[name, member]];
    unknown.push(at);
    return [];
  });
  const result = Object.fromEntries(kept);
  return { ...result, ...defaultsFor(properties, result) };
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
      shape(property, structuredClone(property["default"]), { path: name, unknown: [] }),
    ]),
  );
}

/** A null where none is allowed is the default, or nothing. */
function withDefault(schema: JsonObject, value: unknown): unknown {
  if (value !== null || own(schema, "nullable") === true) return value;
  return structuredClone(own(schema, "default"));
}
