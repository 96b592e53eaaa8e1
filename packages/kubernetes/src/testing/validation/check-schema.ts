import { type Cause, required, wrong } from "../failure.ts";
import { isEqual, isObject, type JsonObject, own, propertiesOf, stringsOf } from "../json.ts";
import { FORMATS, NUMBER_FORMATS } from "./formats.ts";

/**
 * The fields of a value that are against its schema: types, combinations, required fields, enumerations, limits,
 * patterns, formats, items that a list has twice.
 */
export function* schemaCauses(
  schema: JsonObject,
  value: unknown,
  path: string,
): Generator<Cause, undefined> {
  if (value === null && own(schema, "nullable") === true) {
    yield* enumCauses(schema, value, path);
    return;
  }
  const wanted = typeOf(schema);
  if (!isOfType(value, wanted)) {
    const found = JSON.stringify(typeOfValue(value, wanted));
    const message = `Invalid value: ${found}: ${path} in body must be of type ${wanted}: ${found}`;
    yield { reason: "FieldValueTypeInvalid", message, field: path };
    return;
  }
  yield* combinationCauses(schema, value, path);
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

/** The types of a schema, as its error names them: of a text with a format, the format. */
function typeOf({ type, format, "x-kubernetes-int-or-string": isEither }: JsonObject): string {
  if (isEither === true) return "integer,string";
  return String(type === "string" && Object.hasOwn(FORMATS, String(format)) ? format : type);
}

function isOfType(value: unknown, wanted: string): boolean {
  // A server lets every list pass where it expects a text with a format.
  if (Object.hasOwn(FORMATS, wanted)) return typeof value === "string" || Array.isArray(value);
  const known = wanted.split(",").filter((type) => Object.hasOwn(TYPES, type));
  return known.length === 0 || known.some((type) => TYPES[type]?.(value));
}

function typeOfValue(value: unknown, wanted: string): string {
  const kind = Number.isInteger(value) ? "integer" : typeof value;
  if (Object.hasOwn(FORMATS, wanted))
    return typeof value === "number" ? (kind === "integer" ? "int64" : "float64") : "";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : kind;
}

/** What a value is against in `anyOf`, `oneOf`, `allOf` and `not`, in the order of the server. */
function* combinationCauses(schema: JsonObject, value: unknown, path: string): Generator<Cause> {
  const causesOf = (one: unknown): Cause[] =>
    isObject(one) ? [...schemaCauses(one, value, path)] : [];
  const membersOf = (name: string): Cause[][] => {
    const members = own(schema, name);
    return Array.isArray(members) ? members.map(causesOf) : [];
  };
  yield* anyCauses(membersOf("anyOf"), path);
  yield* oneCauses(membersOf("oneOf"), path);
  yield* allCauses(membersOf("allOf"), path);
  const { not } = schema;
  if (isObject(not) && causesOf(not).length === 0)
    yield unfit(path, "must not validate the schema (not)");
}

function* anyCauses(members: readonly Cause[][], path: string): Generator<Cause> {
  const [first] = members;
  if (first === undefined || members.some(({ length }) => length === 0)) return;
  yield unfit(path, "must validate at least one schema (anyOf)");
  yield* first;
}

function* oneCauses(members: readonly Cause[][], path: string): Generator<Cause> {
  const [first] = members;
  const valid = members.filter(({ length }) => length === 0).length;
  if (first === undefined || valid === 1) return;
  const found = valid === 0 ? "none valid" : `${valid} valid alternatives`;
  yield unfit(path, `must validate one and only one schema (oneOf). Found ${found}`);
  if (valid === 0) yield* first;
}

function* allCauses(members: readonly Cause[][], path: string): Generator<Cause> {
  const failed = members.filter(({ length }) => length > 0);
  if (failed.length === 0) return;
  yield* failed.flat();
  const none = failed.length === members.length ? " None validated" : "";
  yield unfit(path, `must validate all the schemas (allOf).${none}`);
}

/** A value against a combination. The server names no field. */
function unfit(path: string, message: string): Cause {
  return wrong("<nil>", "", `${JSON.stringify(path)} ${message}`);
}

function* enumCauses(schema: JsonObject, value: unknown, field: string): Generator<Cause> {
  const allowed = own(schema, "enum");
  if (!Array.isArray(allowed)) return;
  // A server holds a null of a list for a text, which no null equals.
  const texts = allowed.map((one: unknown) => one ?? "null");
  if (texts.some((one) => isEqual(one, value))) return;
  const list = texts.map((one) => JSON.stringify(one)).join(", ");
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
  yield* limitCauses(schema, value, path);
  const { multipleOf } = schema;
  if (typeof multipleOf === "number" && value % multipleOf !== 0)
    yield wrong(path, value, `${path} in body should be a multiple of ${multipleOf}`);
}

function* limitCauses(schema: JsonObject, value: number, path: string): Generator<Cause> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const above = exclusiveMinimum === true ? "greater than" : "greater than or equal to";
  if (typeof minimum === "number" && isBelow(value, minimum, exclusiveMinimum === true))
    yield wrong(path, value, `${path} in body should be ${above} ${minimum}`);
  const below = exclusiveMaximum === true ? "less than" : "less than or equal to";
  if (typeof maximum === "number" && isBelow(-value, -maximum, exclusiveMaximum === true))
    yield wrong(path, value, `${path} in body should be ${below} ${maximum}`);
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
    yield wrong(field, value, `${field} in body should be at least ${minLength} chars long`);
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value))
    yield wrong(field, value, `${field} in body should match '${pattern}'`);
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
    yield wrong(path, value.length, `${path} in body should have at least ${minItems} items`);
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
  const properties = propertiesOf(schema);
  const others = own(schema, "additionalProperties");
  for (const [name, member] of Object.entries(value)) {
    const known = own(properties, name) ?? others;
    if (isObject(known)) yield* schemaCauses(known, member, at(name));
  }
  const names = stringsOf(own(schema, "required"));
  for (const name of names) if (!Object.hasOwn(value, name)) yield required(at(name), "");
}
