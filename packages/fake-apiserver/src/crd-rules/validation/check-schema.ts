import { fromRe2 } from "@holdfast/kit/kubernetes";
import { type Cause, required, wrong } from "../../object/cause.ts";
import {
  goJson,
  isEqual,
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
  stringsOf,
} from "../../object/json.ts";
import { FORMATS, NUMBER_FORMATS } from "./formats.ts";
import { partsOf } from "./schema.ts";

/**
 * The fields of a value that are against its schema: types, combinations, required fields, enumerations, limits,
 * patterns, formats.
 *
 * @param old - value before an update: parts that are unchanged may stay as they are. Undefined: there was none, or
 * it cannot be told which one it was
 */
export function* schemaCauses(
  schema: JsonObject,
  value: unknown,
  path: string,
  old?: unknown,
): Generator<Cause, undefined> {
  if (old !== undefined && isEqual(value, old)) return;
  const isNull = value === null;
  if (!(isNull && own(schema, "nullable") === true)) yield* typeCauses(schema, value, path);
  if (!isNull) yield* combinationCauses(schema, value, path);
  if (typeof value === "number") yield* numberCauses(schema, value, path);
  if (typeof value === "string") yield* textCauses(schema, value, path);
  if (Array.isArray(value)) yield* listCauses(schema, value, path, old);
  yield* enumCauses(schema, value, path);
  if (isObject(value)) yield* objectCauses(schema, value, path, old);
}

function* typeCauses(schema: JsonObject, value: unknown, path: string): Generator<Cause> {
  const wanted = typeOf(value === null ? { ...schema, format: undefined } : schema);
  if (isOfType(value, wanted)) return;
  const isFraction = wanted === "integer" && typeof value === "number";
  const type = isNamedByFormat(schema, wanted, value) ? String(schema["format"]) : wanted;
  const found = JSON.stringify(typeOfValue(value, type));
  const message = `Invalid value: ${found}: ${path} in body must be of type ${type}: ${found}`;
  yield { reason: "FieldValueTypeInvalid", message, field: path };
  if (isFraction) yield outOfFormat(schema, path);
}

/** Whether an error calls the type of a number by its format: not for what is null, a text or a list. */
function isNamedByFormat({ format }: JsonObject, wanted: string, value: unknown): boolean {
  if (wanted !== "integer" && wanted !== "number") return false;
  if (!Object.hasOwn(NUMBER_FORMATS, String(format)) && format !== "double") return false;
  return value !== null && typeof value !== "string" && !Array.isArray(value);
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 63,
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
  const kind = TYPES["integer"]?.(value) ? "integer" : typeof value;
  if (!Object.hasOwn(TYPES, wanted) && !wanted.includes(","))
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
  const closestOf = (name: string): number => closest(own(schema, name), value);
  yield* anyCauses(membersOf("anyOf"), path, closestOf("anyOf"));
  yield* oneCauses(membersOf("oneOf"), path, closestOf("oneOf"));
  yield* allCauses(membersOf("allOf"), path);
  const { not } = schema;
  if (isObject(not) && causesOf(not).length === 0)
    yield unfit(path, "must not validate the schema (not)");
}

/** The index of the first member that looks at the most values: its causes are named if there is none that fits. */
function closest(members: unknown, value: unknown): number {
  if (!Array.isArray(members)) return 0;
  const counts = members.map((one) => (isObject(one) ? valuesSeen(one, value) : 0));
  return counts.indexOf(Math.max(...counts));
}

/** How many values a schema looks at. */
function valuesSeen(schema: JsonObject, value: unknown): number {
  const items = own(schema, "items");
  const below = Array.isArray(value)
    ? value.map((item): [unknown, unknown] => [items, item])
    : Object.entries(isObject(value) ? value : {}).map(([name, member]): [unknown, unknown] => [
        own(propertiesOf(schema), name) ?? own(schema, "additionalProperties"),
        member,
      ]);
  return below.reduce((sum, [one, part]) => sum + (isObject(one) ? valuesSeen(one, part) : 0), 1);
}

function* anyCauses(members: readonly Cause[][], path: string, at: number): Generator<Cause> {
  if (members.length === 0 || members.some(({ length }) => length === 0)) return;
  yield unfit(path, "must validate at least one schema (anyOf)");
  yield* members[at] ?? [];
}

function* oneCauses(members: readonly Cause[][], path: string, at: number): Generator<Cause> {
  const first = members[at];
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
  const none = failed.length === members.length ? ". None validated" : "";
  yield unfit(path, `must validate all the schemas (allOf)${none}`);
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
  const isWhole = schema["type"] !== "integer" || isOfType(value, "integer");
  if (isWhole && NUMBER_FORMATS[String(schema["format"])]?.(value) === false)
    yield outOfFormat(schema, path);
  yield* limitCauses(schema, value, path);
  const { multipleOf } = schema;
  if (typeof multipleOf === "number" && !Number.isSafeInteger(value / multipleOf))
    yield wrong(path, value, `${path} in body should be a multiple of ${multipleOf}`);
}

function outOfFormat({ type, format }: JsonObject, path: string): Cause {
  const kind = format === undefined ? `${type} (default format)` : `${type} with format ${format}`;
  return wrong("<nil>", "", `Checked value must be of type ${kind} in ${path}`);
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
  const cause = lengthCause(schema, value, field) ?? patternCause(schema, value, field);
  if (cause !== undefined) yield cause;
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

function lengthCause(
  { minLength, maxLength }: JsonObject,
  value: string,
  field: string,
): Cause | undefined {
  const length = [...value].length;
  if (typeof maxLength === "number" && length > maxLength)
    return {
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${maxLength} bytes`,
      field,
    };
  if (typeof minLength === "number" && length < minLength)
    return wrong(field, value, `${field} in body should be at least ${minLength} chars long`);
  return undefined;
}

/** @throws Error with the path, for a pattern that was not checked before */
function patternAt(pattern: string, field: string): RegExp {
  try {
    return fromRe2(pattern);
  } catch (error) {
    throw new Error(`${field}: ${(error as Error).message}`, { cause: error });
  }
}

function patternCause({ pattern }: JsonObject, value: string, field: string): Cause | undefined {
  if (typeof pattern !== "string" || patternAt(pattern, field).test(value)) return undefined;
  return wrong(field, value, `${field} in body should match '${pattern}'`);
}

function* listCauses(
  schema: JsonObject,
  value: readonly unknown[],
  path: string,
  old: unknown,
): Generator<Cause> {
  const { minItems, maxItems, items } = schema;
  if (typeof maxItems === "number" && value.length > maxItems)
    yield {
      reason: "FieldValueTooMany",
      message: tooMany(value.length, maxItems),
      field: path,
    };
  if (typeof minItems === "number" && value.length < minItems)
    yield wrong(path, value.length, `${path} in body should have at least ${minItems} items`);
  if (isObject(items))
    for (const [index, item] of value.entries())
      yield* schemaCauses(items, item, `${path}[${index}]`, oldItem(schema, item, old));
}

function tooMany(found: number, most: number): string {
  return `Too many: ${found}: must have at most ${most} ${most === 1 ? "item" : "items"}`;
}

/**
 * Items that lists of the types `set` and `map` have twice, or that have no keys. A server looks for them after all else.
 *
 * @param old - as of {@link schemaCauses}
 */
export function* identityCauses(
  schema: JsonObject,
  value: unknown,
  path: string,
  old?: unknown,
): Generator<Cause> {
  if (old !== undefined && isEqual(value, old)) return;
  if (Array.isArray(value) && isObject(own(schema, "items")))
    yield* duplicateCauses(schema, value, path);
  for (const part of partsOf(schema, value, path)) {
    const before = isObject(old) ? own(old, part.name) : oldItem(schema, part.value, old);
    yield* identityCauses(part.schema, part.value, part.path, before);
  }
}

function* duplicateCauses(
  schema: JsonObject,
  value: readonly unknown[],
  path: string,
): Generator<Cause> {
  const kind = own(schema, "x-kubernetes-list-type");
  if (kind !== "set" && kind !== "map") return;
  const others = [...value.entries()].filter(([, item]) => item !== null && !isObject(item));
  if (kind === "map" && others.length > 0) {
    for (const [index, item] of others)
      yield wrong(`${path}[${index}]`, item, "must be an object for an array of list-type map");
    return;
  }
  const keys = value.map((item) => keyOfItem(schema, item));
  for (const [index, key] of keys.entries()) {
    // A third one is not named.
    if (keys.slice(0, index).filter((other) => isEqual(other, key)).length !== 1) continue;
    const message = `Duplicate value: ${goJson(key)}`;
    yield { reason: "FieldValueDuplicate", message, field: `${path}[${index}]` };
  }
}

/** The keys by which a list knows an item, or all of the item. */
function keyOfItem(schema: JsonObject, item: unknown): unknown {
  if (own(schema, "x-kubernetes-list-type") !== "map" || !isObject(item)) return item;
  return pick(item, stringsOf(own(schema, "x-kubernetes-list-map-keys")));
}

/** The item with the same keys before the update. Items of other lists have no identity. */
export function oldItem(schema: JsonObject, item: unknown, old: unknown): unknown {
  if (own(schema, "x-kubernetes-list-type") !== "map" || !Array.isArray(old)) return undefined;
  const key = keyOfItem(schema, item);
  return old.find((one) => isEqual(keyOfItem(schema, one), key));
}

function* objectCauses(
  schema: JsonObject,
  value: JsonObject,
  path: string,
  old: unknown,
): Generator<Cause> {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const properties = propertiesOf(schema);
  const others = own(schema, "additionalProperties");
  for (const [name, member] of Object.entries(value)) {
    const known = own(properties, name) ?? others;
    const before = isObject(old) ? own(old, name) : undefined;
    if (isObject(known)) yield* schemaCauses(known, member, at(name), before);
  }
  const names = stringsOf(own(schema, "required"));
  yield* countCauses(schema, Object.keys(value).length, path);
  for (const name of names) if (!Object.hasOwn(value, name)) yield required(at(name), "");
}

function* countCauses(
  { minProperties, maxProperties }: JsonObject,
  count: number,
  field: string,
): Generator<Cause> {
  if (typeof maxProperties === "number" && count > maxProperties)
    yield { reason: "FieldValueTooMany", message: tooMany(count, maxProperties), field };
  if (typeof minProperties === "number" && count < minProperties)
    yield wrong(field, count, `${field} in body should have at least ${minProperties} properties`);
}
