import {
  fromRe2,
  isEqual,
  isObject,
  type JsonObject,
  own,
  propertiesOf,
} from "@holdfast/kit/kubernetes";

/**
 * Whether a value fits a structural schema, as far as types, required fields, bounds, lengths, values and patterns tell:
 * what a mutating webhook may be shown although the server will refuse it. Rules of CEL are not evaluated.
 */
export function fitsSchema(schema: unknown, value: unknown): boolean {
  if (!isObject(schema)) return true;
  if (value === null) return schema["nullable"] === true;
  return isOfType(schema, value) && isAllowed(schema, value) && partsFit(schema, value);
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
};

function isOfType(schema: JsonObject, value: unknown): boolean {
  if (schema["x-kubernetes-int-or-string"] === true)
    return typeof value === "string" || Number.isInteger(value);
  const { type } = schema;
  return typeof type !== "string" || TYPES[type]?.(value) !== false;
}

/** Each bound with the part of a value that it is about. */
const BOUNDS: readonly [
  type: string,
  least: string,
  most: string,
  size: (value: never) => number,
][] = [
  ["number", "minimum", "maximum", (value: number) => value],
  ["string", "minLength", "maxLength", (value: string) => [...value].length],
  ["array", "minItems", "maxItems", (value: unknown[]) => value.length],
  ["object", "minProperties", "maxProperties", (value: object) => Object.keys(value).length],
];

function isAllowed(schema: JsonObject, value: unknown): boolean {
  const { enum: values, pattern } = schema;
  if (Array.isArray(values) && !values.some((one) => isEqual(one, value))) return false;
  if (typeof pattern === "string" && typeof value === "string" && !matches(pattern, value))
    return false;
  return BOUNDS.every(([type, least, most, size]) => {
    if (TYPES[type]?.(value) !== true) return true;
    const is = size(value as never);
    return (
      !(is < Number(schema[least] ?? Number.NaN)) && !(is > Number(schema[most] ?? Number.NaN))
    );
  });
}

function matches(pattern: string, value: string): boolean {
  try {
    return fromRe2(pattern).test(value);
  } catch {
    return true; // the server knows
  }
}

function partsFit(schema: JsonObject, value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => fitsSchema(schema["items"], item));
  if (!isObject(value)) return true;
  const { required = [], additionalProperties } = schema;
  const properties = propertiesOf(schema);
  return (
    (required as readonly string[]).every((name) => own(value, name) !== undefined) &&
    Object.entries(value).every(([name, part]) =>
      fitsSchema(own(properties, name) ?? additionalProperties, part),
    )
  );
}
