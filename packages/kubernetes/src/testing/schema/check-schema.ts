import { type Cause, required, wrong } from "../failure.ts";
import { isEqual, isObject, type JsonObject, own, stringsOf } from "../json.ts";
import { FORMATS, NUMBER_FORMATS } from "./formats.ts";
import { propertiesOf } from "./schema.ts";

/**
 * The fields of a value that are against its schema: types, required fields, enumerations, limits, patterns,
 * formats, items that a list has twice. Not checked: combinations such as `oneOf`.
 */
export function* schemaCauses(
  schema: JsonObject,
  value: unknown,
  path: string,
): Generator<Cause, undefined> {
  if (value === null && own(schema, "nullable") === true) return;
  const type = own(schema, "type");
  if (!isOfType(value, schema)) {
    const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body must be of type ${type}`;
    yield { reason: "FieldValueTypeInvalid", message, field: path };
    return;
  }
  yield* enumCauses(schema, value, path);
  if (typeof value === "number") yield* numberCauses(schema, value, path);
  if (typeof value === "string") yield* textCauses(schema, value, path);
  if (Array.isArray(value)) yield* listCauses(schema, value, path);
  if (isObject(value)) yield* objectCauses(schema, value, path);
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
};

function isOfType(value: unknown, schema: JsonObject): boolean {
  if (own(schema, "x-kubernetes-int-or-string") === true)
    return typeof value === "string" || Number.isInteger(value);
  const check = TYPES[String(own(schema, "type"))];
  return check === undefined || check(value);
}

function* enumCauses(schema: JsonObject, value: unknown, field: string): Generator<Cause> {
  const allowed = own(schema, "enum");
  if (!Array.isArray(allowed) || allowed.some((one) => isEqual(one, value))) return;
  const list = allowed.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  yield { reason: "FieldValueNotSupported", message, field };
}

function* numberCauses(schema: JsonObject, value: number, path: string): Generator<Cause> {
  const { type, format } = schema;
  if (NUMBER_FORMATS[String(format)]?.(value) === false)
    yield wrong(
      "<nil>",
      "",
      `Checked value must be of type ${type} with format ${format} in ${path}`,
    );
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && isBelow(value, minimum, exclusiveMinimum === true))
    yield wrong(path, value, `should be greater than or equal to ${minimum}`);
  if (typeof maximum === "number" && isBelow(-value, -maximum, exclusiveMaximum === true))
    yield wrong(path, value, `should be less than or equal to ${maximum}`);
  if (typeof multipleOf === "number" && value % multipleOf !== 0)
    yield wrong(path, value, `should be a multiple of ${multipleOf}`);
}

function isBelow(value: number, limit: number, isExclusive: boolean): boolean {
  return isExclusive ? value <= limit : value < limit;
}

function* textCauses(schema: JsonObject, value: string, field: string): Generator<Cause> {
  const { minLength, maxLength, pattern } = schema;
  const length = [...value].length;
  if (typeof maxLength === "number" && length > maxLength)
    yield {
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${maxLength} bytes`,
      field,
    };
  if (typeof minLength === "number" && length < minLength)
    yield wrong(field, value, `should be at least ${minLength} chars long`);
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value))
    yield wrong(field, value, `should match '${pattern}'`);
  const format = String(own(schema, "format"));
  if (FORMATS[format]?.(value) === false)
    yield {
      ...wrong(
        field,
        value,
        `${field} in body must be of type ${format}: ${JSON.stringify(value)}`,
      ),
      reason: "FieldValueTypeInvalid",
    };
}

function* listCauses(
  schema: JsonObject,
  value: readonly unknown[],
  path: string,
): Generator<Cause> {
  const { minItems, maxItems, items } = schema;
  if (typeof maxItems === "number" && value.length > maxItems)
    yield {
      reason: "FieldValueTooMany",
      message: `Too many: ${value.length}: must have at most ${maxItems} items`,
      field: path,
    };
  if (typeof minItems === "number" && value.length < minItems)
    yield wrong(path, value.length, `should have at least ${minItems} items`);
  if (isObject(items))
    for (const [index, item] of value.entries())
      yield* schemaCauses(items, item, `${path}[${index}]`);
  yield* duplicateCauses(schema, value, path);
}

function* duplicateCauses(
  schema: JsonObject,
  value: readonly unknown[],
  path: string,
): Generator<Cause> {
  const kind = own(schema, "x-kubernetes-list-type");
  if (kind !== "set" && kind !== "map") return;
  const names = stringsOf(own(schema, "x-kubernetes-list-map-keys"));
  const keyOf = (item: unknown): unknown =>
    kind === "map" && isObject(item) ? names.map((name) => own(item, name) ?? null) : item;
  const keys = value.map(keyOf);
  for (const [index, key] of keys.entries()) {
    if (!keys.slice(0, index).some((other) => isEqual(other, key))) continue;
    const message = `Duplicate value: ${JSON.stringify(key)}`;
    yield { reason: "FieldValueDuplicate", message, field: `${path}[${index}]` };
  }
}

function* objectCauses(schema: JsonObject, value: JsonObject, path: string): Generator<Cause> {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const names = stringsOf(own(schema, "required"));
  for (const name of names) if (!Object.hasOwn(value, name)) yield required(at(name), "");
  const properties = propertiesOf(schema);
  const others = own(schema, "additionalProperties");
  for (const [name, member] of Object.entries(value)) {
    const known = own(properties, name) ?? others;
    if (isObject(known)) yield* schemaCauses(known, member, at(name));
  }
}
