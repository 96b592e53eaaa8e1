import { fromRe2 } from "@holdfast/kit/kubernetes";
import * as fc from "fast-check";
import { schemaCauses } from "../crd-rules/validation/check-schema.ts";
import {
  isForbidden,
  isObject,
  type JsonObject,
  own,
  propertiesOf,
  stringsOf,
} from "../object/json.ts";
import { acceptsField } from "./accepts.ts";
import { Bounded } from "./bounded.ts";
import { FORMAT_ARBITRARIES } from "./format-arbitraries.ts";

/** Arbitraries of the user by the path of a field, as in `ports[].name` and `labels.*`. */
type FieldArbitraries = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** A place in the spec, and the fields that the user draws. */
interface Place {
  readonly path: string;
  readonly fields: FieldArbitraries;

  /** Collects the paths of `fields` that the schema has. */
  readonly found: Set<string>;
}

/** Numbers and lengths without a limit end this far from the limit on the other side, or from 0. */
const REACH = 100;
const LENGTH_REACH = 10;

/** The values of a schema. */
export function schemaArbitrary(schema: JsonObject, place: Place): fc.Arbitrary<unknown> {
  const { path, fields, found } = place;
  found.add(path);
  if (Object.hasOwn(fields, path)) return fields[path] as fc.Arbitrary<unknown>;
  const allowed = own(schema, "enum");
  if (Array.isArray(allowed)) return constantsOf(allowed);
  const values = listedInAllOf(schema) ?? boundValues(schema, place);
  return own(schema, "nullable") === true ? fc.option(values, { freq: 5 }) : values;
}

/** A server finds null in no list of values. */
function constantsOf(values: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.constantFrom(...values.filter((value) => value !== null));
}

/** The values of a field that allows null, too: they are listed in `allOf`. */
function listedInAllOf({ allOf }: JsonObject): fc.Arbitrary<unknown> | undefined {
  const [only, ...others] = Array.isArray(allOf) ? allOf.filter(isObject) : [];
  const values = only && others.length === 0 ? own(only, "enum") : undefined;
  return Array.isArray(values) ? constantsOf(values) : undefined;
}

/** The values that keep the rules of this very field: drawn anew alone, not with the whole spec. */
function boundValues(schema: JsonObject, place: Place): fc.Arbitrary<unknown> {
  const values = valuesOf(schema, place);
  const accepts = acceptsField(schema);
  if (accepts === undefined || place.path === "") return values;
  return new Bounded(values, accepts, (draws) =>
    noValue(place.path, `of ${draws} values drawn none keeps its rules`),
  );
}

function valuesOf(schema: JsonObject, place: Place): fc.Arbitrary<unknown> {
  if (own(schema, "x-kubernetes-int-or-string") === true) return intOrString(schema, place);
  switch (own(schema, "type")) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return integers(schema);
    case "number":
      return numbers(schema);
    case "string":
      return texts(schema, place);
    case "array":
      return lists(schema, place);
    case "object":
      return objects(schema, place);
    default:
      return anyValue();
  }
}

/** Any value of JSON, but no name that reaches the prototype of an object. */
function anyValue(): fc.Arbitrary<unknown> {
  return fc.jsonValue({ maxDepth: 2 }).filter((value) => !hasForbidden(value));
}

function hasForbidden(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasForbidden);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) => isForbidden(name) || hasForbidden(member));
}

function intOrString(schema: JsonObject, place: Place): fc.Arbitrary<unknown> {
  const counts = integers({ minimum: 0, ...schema });
  const words =
    own(schema, "pattern") === undefined
      ? fc.oneof(
          fc.nat({ max: REACH }).map((percent) => `${percent}%`),
          texts(schema, place),
        )
      : texts(schema, place);
  return fc.oneof(counts, words);
}

function integers(schema: JsonObject): fc.Arbitrary<number> {
  const step = numberAt(schema, "multipleOf") ?? 1;
  const { min, max } = rangeOf(schema, step);
  const first = Math.ceil(min / step);
  const last = Math.floor(max / step);
  return between(
    first * step === min && schema["exclusiveMinimum"] === true ? first + 1 : first,
    last * step === max && schema["exclusiveMaximum"] === true ? last - 1 : last,
  ).map((count) => count * step);
}

function numbers(schema: JsonObject): fc.Arbitrary<number> {
  if (numberAt(schema, "multipleOf") !== undefined) return integers(schema);
  const { min, max } = rangeOf(schema, 1);
  const limits = {
    min,
    max,
    minExcluded: schema["exclusiveMinimum"] === true,
    maxExcluded: schema["exclusiveMaximum"] === true,
    noNaN: true,
  };
  // JSON has one zero.
  return fc.double(limits).map((value) => value + 0);
}

function rangeOf(schema: JsonObject, step: number): { readonly min: number; readonly max: number } {
  const minimum = numberAt(schema, "minimum");
  const maximum = numberAt(schema, "maximum");
  const reach = REACH * step;
  return {
    min: minimum ?? (maximum === undefined || maximum > 0 ? -reach : maximum - reach),
    max: maximum ?? (minimum === undefined || minimum < 0 ? reach : minimum + reach),
  };
}

/** Integers, those that JSON can hold. */
function between(first: number, last: number): fc.Arbitrary<number> {
  const min = Math.max(first, Number.MIN_SAFE_INTEGER);
  const max = Math.min(last, Number.MAX_SAFE_INTEGER);
  return fc.integer({ min, max });
}

/** Mostly plain ASCII, and now and then a letter that takes more than one byte. */
const letters = fc.oneof(
  { weight: 19, arbitrary: fc.string({ minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom("é", "ß", "日", "🙂") },
);

function texts(schema: JsonObject, { path }: Place): fc.Arbitrary<string> {
  const { pattern, format } = schema;
  const minLength = numberAt(schema, "minLength") ?? 0;
  const maxLength = numberAt(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  const ofFormat = FORMAT_ARBITRARIES[String(format)];
  if (typeof pattern !== "string" && ofFormat === undefined)
    return plainTexts(minLength, maxLength);
  const all = typeof pattern === "string" ? patternTexts(pattern, minLength, path) : ofFormat;
  const rules = { type: "string", pattern, format, minLength, maxLength };
  return new Bounded(
    all as fc.Arbitrary<string>,
    (text) => [...schemaCauses(rules, text, "")].length === 0,
    (draws) => noValue(path, `of ${draws} texts drawn none keeps pattern, format and length`),
  );
}

/** Short texts, and now and then one of the greatest length. */
function plainTexts(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const short = fc.string({
    unit: letters,
    minLength,
    maxLength: Math.min(maxLength, minLength + LENGTH_REACH),
  });
  if (maxLength > 1_000) return short;
  const longest = fc.string({ minLength: maxLength, maxLength });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 9, arbitrary: short },
    { weight: 1, arbitrary: longest },
  );
}

function patternTexts(pattern: string, minLength: number, path: string): fc.Arbitrary<string> {
  try {
    const size = minLength > LENGTH_REACH ? "medium" : "small";
    return fc.stringMatching(fromRe2(pattern), { size });
  } catch (error) {
    throw noValue(path, `fast-check cannot draw texts of the pattern '${pattern}'`, error);
  }
}

function lists(schema: JsonObject, place: Place): fc.Arbitrary<unknown[]> {
  const items = own(schema, "items");
  const minLength = numberAt(schema, "minItems") ?? 0;
  const maxLength = Math.min(numberAt(schema, "maxItems") ?? Infinity, minLength + LENGTH_REACH);
  const limits = { minLength, maxLength };
  if (!isObject(items)) return fc.array(anyValue(), limits);
  const item = schemaArbitrary(items, { ...place, path: `${place.path}[]` });
  const type = own(schema, "x-kubernetes-list-type");
  if (type === "set") return fc.uniqueArray(item, { ...limits, selector: JSON.stringify });
  if (type !== "map") return fc.array(item, limits);
  const names = stringsOf(own(schema, "x-kubernetes-list-map-keys"));
  const keyOf = (one: unknown): string =>
    JSON.stringify(names.map((name) => keyAt(items, one, name)));
  return fc.uniqueArray(item, { ...limits, selector: keyOf });
}

/** A key of an item of a list, or its default. */
function keyAt(items: JsonObject, item: unknown, name: string): unknown {
  const property = own(propertiesOf(items), name);
  const given = isObject(item) ? own(item, name) : undefined;
  return given ?? (isObject(property) ? own(property, "default") : undefined);
}

function objects(schema: JsonObject, place: Place): fc.Arbitrary<JsonObject> {
  const others = own(schema, "additionalProperties");
  if (isObject(others)) return maps(schema, schemaArbitrary(others, below(place, "*")));
  const named = namedFields(schema, place);
  const isOpen = others === true || own(schema, "x-kubernetes-preserve-unknown-fields") === true;
  if (!isOpen) return named;
  const properties = propertiesOf(schema);
  const unnamed = fc.dictionary(
    names.filter((name) => !Object.hasOwn(properties, name)),
    anyValue(),
    { maxKeys: 3, noNullPrototype: true },
  );
  return fc.tuple(named, unnamed).map(([some, more]) => ({ ...more, ...some }));
}

/** Names of fields that the schema does not name. */
const names = fc
  .string({ unit: letters, minLength: 1, maxLength: LENGTH_REACH })
  .filter((name) => !isForbidden(name));

function maps(schema: JsonObject, member: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  const minKeys = numberAt(schema, "minProperties") ?? 0;
  const maxKeys = Math.min(numberAt(schema, "maxProperties") ?? Infinity, minKeys + LENGTH_REACH);
  return fc.dictionary(names, member, { minKeys, maxKeys, noNullPrototype: true });
}

/** Objects with every required field and some of the others, as many as the schema allows. */
function namedFields(schema: JsonObject, place: Place): fc.Arbitrary<JsonObject> {
  const embedded = own(schema, "x-kubernetes-embedded-resource") === true ? EMBEDDED : {};
  const members: Record<string, fc.Arbitrary<unknown>> = { ...unnamed(schema), ...embedded };
  for (const [name, property] of Object.entries(propertiesOf(schema)))
    if (isObject(property) && !Object.hasOwn(embedded, name))
      members[name] = schemaArbitrary(property, below(place, name));
  const required = [...stringsOf(own(schema, "required")), ...Object.keys(embedded)];
  const optional = Object.keys(members).filter((name) => !required.includes(name));
  const minLength = Math.max(0, (numberAt(schema, "minProperties") ?? 0) - required.length);
  const maxProperties = numberAt(schema, "maxProperties") ?? Infinity;
  const maxLength = Math.min(optional.length, Math.max(0, maxProperties - required.length));
  if (minLength === 0 && maxLength === optional.length)
    return recordOf(
      members,
      required.filter((name) => Object.hasOwn(members, name)),
    );
  return fc.subarray(optional, { minLength, maxLength }).chain((chosen) => {
    const all = [...required, ...chosen];
    const some = Object.entries(members).filter(([name]) => all.includes(name));
    return recordOf(Object.fromEntries(some), all);
  });
}

/** The required fields of a schema that keeps fields which it does not name. */
function unnamed(schema: JsonObject): Record<string, fc.Arbitrary<unknown>> {
  if (own(schema, "x-kubernetes-preserve-unknown-fields") !== true) return {};
  return Object.fromEntries(stringsOf(own(schema, "required")).map((name) => [name, anyValue()]));
}

function recordOf(
  members: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: string[],
): fc.Arbitrary<JsonObject> {
  return fc.record<JsonObject, string>(members, { requiredKeys, noNullPrototype: true });
}

/** Fields that every object of Kubernetes has. */
const EMBEDDED: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  apiVersion: fc.constant("v1"),
  kind: fc.constant("ConfigMap"),
  metadata: fc.record({ name: fc.constantFrom("a", "b") }, { noNullPrototype: true }),
};

function below({ path, ...place }: Place, name: string): Place {
  return { ...place, path: path === "" ? name : `${path}.${name}` };
}

function numberAt(schema: JsonObject, name: string): number | undefined {
  const value = own(schema, name);
  return typeof value === "number" ? value : undefined;
}

function noValue(path: string, problem: string, cause?: unknown): RangeError {
  const text = `specsOf cannot draw the field ${path}: ${problem}; draw it yourself with fields: { ${JSON.stringify(path)}: … }`;
  return new RangeError(text, { cause });
}
