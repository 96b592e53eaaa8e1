import {
  isEqual,
  isObject,
  type JsonObject,
  own,
  pick,
  propertiesOf,
} from "@holdfast/kit/kubernetes";
import { schemaError } from "./schema-error.ts";
import { anything, isAnything } from "./values.ts";

const INT_OR_STRING = "x-kubernetes-int-or-string";

/** Keywords that test a value. The members of an `anyOf` may have these, and no others. */
const TESTS = [
  ...["enum", "pattern", "format", "minLength", "maxLength"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minItems", "maxItems", "minProperties", "maxProperties", "required", "allOf", "anyOf"],
];

/** Keywords for people. The first member that has one counts. */
const NOTES = ["description", "example"];

/**
 * The structural schema of the values that one of several schemas allows. All members share types and fields,
 * since a server has one type for each field. What they test alone stands in `anyOf`.
 *
 * @throws RangeError if no type has all values
 */
export function unite(schemas: readonly JsonObject[], path: string): JsonObject {
  const all = schemas.filter((one, at) => schemas.findIndex((two) => isEqual(one, two)) === at);
  const [first, ...others] = all;
  if (first === undefined) throw schemaError(path, "it allows no value", "leave the field out");
  if (others.length === 0) return first;
  if (all.some(isAnything)) return anything();
  const kind = kindOf(all, path);
  const below = fieldsOf(all, path);
  return {
    ...kind,
    ...marksOf(all, path),
    ...below,
    ...(INT_OR_STRING in kind ? testsOfBoth(all, path) : testsOfAny(all, below)),
    ...(all.some(isNullable) && { nullable: true }),
  };
}

function isNullable({ nullable }: JsonObject): boolean {
  return nullable === true;
}

function typeOf(schema: JsonObject): string {
  return schema[INT_OR_STRING] === true ? INT_OR_STRING : String(schema["type"]);
}

/** The type that has the values of all members. */
function kindOf(all: readonly JsonObject[], path: string): JsonObject {
  const types = [...new Set(all.map(typeOf))];
  const areOf = (...allowed: string[]): boolean => types.every((type) => allowed.includes(type));
  if (areOf("integer", "number") && types.length > 1) return { type: "number" };
  if (areOf(INT_OR_STRING) || (areOf("integer", "string", INT_OR_STRING) && types.length > 1))
    return { [INT_OR_STRING]: true };
  if (areOf("integer")) return { type: "integer", format: "int64" };
  if (types.length === 1) return { type: types[0] };
  throw schemaError(
    path,
    `a field has one type, and its values are of ${types.join(" and ")}`,
    "use an object with a field for each",
  );
}

/** Defaults and extensions, which all members must have alike, and notes. */
function marksOf(all: readonly JsonObject[], path: string): JsonObject {
  const names = new Set(all.flatMap(Object.keys));
  const marks: JsonObject = {};
  for (const name of names) {
    const isMark = name === "default" || name.startsWith("x-kubernetes-");
    if (name === INT_OR_STRING || !(isMark || NOTES.includes(name))) continue;
    const [first, ...others] = all.map((one) => own(one, name));
    if (isMark && !others.every((value) => isEqual(value, first)))
      throw schemaError(
        path,
        `the members of its union have not the same ${name}`,
        "give all members the same, or none",
      );
    marks[name] = first ?? others.find((value) => value !== undefined);
  }
  return marks;
}

/** The fields, or the items, of all members. */
function fieldsOf(all: readonly JsonObject[], path: string): JsonObject {
  const names = [...new Set(all.flatMap((one) => Object.keys(propertiesOf(one))))];
  const records = all.map((one) => one["additionalProperties"]).filter(isObject);
  requireOneKind(names.length, records.length, path);
  const items = all.map((one) => one["items"]).filter(isObject);
  return {
    ...(names.length > 0 && {
      properties: Object.fromEntries(names.map((name) => [name, fieldOf(all, name, path)])),
    }),
    ...(records.length > 0 && { additionalProperties: unite(records, `${path}.*`) }),
    ...(items.length > 0 && { items: unite(items, `${path}[]`) }),
  };
}

function fieldOf(all: readonly JsonObject[], name: string, path: string): JsonObject {
  const found = all.map((one) => own(propertiesOf(one), name)).filter(isObject);
  if (found.length < all.length && found.some((one) => "default" in one))
    throw schemaError(
      `${path}.${name}`,
      "a server would set its default in every member of the union",
      "leave the default out, or give the field to all members",
    );
  return unite(found, `${path}.${name}`);
}

/** What the members test, if they are of one type. `below` has the fields that they share. */
function testsOfAny(all: readonly JsonObject[], below: JsonObject): JsonObject {
  const members = all.map((one) => testsOf(one, below));
  const [first = {}, ...others] = members;
  if (others.every((one) => isEqual(one, first))) return first;
  if (members.every((one) => isEqual(Object.keys(one), ["enum"])))
    return { enum: [...new Set(members.flatMap(enumIn))] };
  const isTested = members.every((one) => Object.keys(one).length > 0);
  return isTested ? { anyOf: members } : {};
}

/** The tests of integers leave texts alone, and the other way round. Only those of values do not. */
function testsOfBoth(all: readonly JsonObject[], path: string): JsonObject {
  const tests = all.map((one) => testsOf(one, {}));
  const listed = tests.filter((one) => "enum" in one);
  if (listed.length > 0 && listed.length < all.length)
    throw schemaError(
      path,
      "some of its values are listed, and others have only a type",
      `allow every text and integer, and write a rule such as "type(self) == int || self == 'auto'"`,
    );
  const values = listed.flatMap(enumIn);
  const others = tests.map(({ enum: _, ...rest }) => rest).reduce(intersectTests, {});
  return { ...others, ...(values.length > 0 && { enum: [...new Set(values)] }) };
}

function enumIn(schema: JsonObject): unknown[] {
  return Array.isArray(schema["enum"]) ? schema["enum"] : [];
}

/** What a schema tests, without types. Fields that `below` tests in the same way are left out. */
function testsOf(schema: JsonObject, below: JsonObject): JsonObject {
  const tests = pick(schema, TESTS);
  if (tests["format"] === "int64") delete tests["format"]; // every integer has it
  const shared = propertiesOf(below);
  const fields = Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
    if (!isObject(field) || isNullable(field)) return [];
    const alone = testsOf(field, {});
    const other = own(shared, name);
    const isShared = isObject(other) && isEqual(alone, testsOf(other, {}));
    return isShared || Object.keys(alone).length === 0 ? [] : [[name, alone] as const];
  });
  if (fields.length > 0) tests["properties"] = Object.fromEntries(fields);
  const { items } = schema;
  const itemTests = isObject(items) && !isNullable(items) ? testsOf(items, {}) : {};
  const other = isObject(below["items"]) ? testsOf(below["items"], {}) : {};
  if (!isEqual(itemTests, other) && Object.keys(itemTests).length > 0) tests["items"] = itemTests;
  return tests;
}

/**
 * The structural schema of the values that both of two schemas allow.
 *
 * @throws RangeError if there is no such value
 */
export function intersect(one: JsonObject, other: JsonObject, path: string): JsonObject {
  if (isAnything(one)) return other;
  if (isAnything(other)) return one;
  const structure = { ...one, ...other };
  for (const name of [...TESTS, "nullable"]) delete structure[name];
  if ("default" in one && !isEqual(structure["default"], one["default"]))
    throw schemaError(path, "it has two defaults", "leave one of them out");
  const tests = intersectTests(pick(one, TESTS), pick(other, TESTS));
  if ("enum" in tests && enumIn(tests).length === 0)
    throw schemaError(path, "it allows no value", "leave the field out");
  return {
    ...structure,
    ...commonKind(one, other, path),
    ...commonFields(one, other, path),
    ...tests,
    ...(isNullable(one) && isNullable(other) && { nullable: true }),
  };
}

function commonKind(one: JsonObject, other: JsonObject, path: string): JsonObject {
  const types = [typeOf(one), typeOf(other)];
  const [first, second] = types;
  if (first === second) return {};
  if (types.includes("integer") && types.includes("number")) return { type: "integer" };
  throw schemaError(path, `no value is of ${first} and ${second}`, "leave one of them out");
}

function commonFields(one: JsonObject, other: JsonObject, path: string): JsonObject {
  const named = { ...propertiesOf(one), ...propertiesOf(other) };
  const properties = Object.keys(named).map((name) => {
    const both = [own(propertiesOf(one), name), own(propertiesOf(other), name)];
    return [name, intersectAll(both, `${path}.${name}`)] as const;
  });
  const records = [one["additionalProperties"], other["additionalProperties"]];
  requireOneKind(properties.length, records.filter(isObject).length, path);
  const fields: JsonObject = {
    properties: properties.length > 0 ? Object.fromEntries(properties) : undefined,
    items: intersectAll([one["items"], other["items"]], `${path}[]`),
    additionalProperties: intersectAll(records, `${path}.*`),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
}

function intersectAll(given: readonly unknown[], path: string): JsonObject | undefined {
  const [first, second] = given.filter(isObject);
  return first && second ? intersect(first, second, path) : first;
}

function requireOneKind(fields: number, records: number, path: string): void {
  if (fields > 0 && records > 0)
    throw schemaError(
      path,
      "Kubernetes has no named fields beside a record",
      "put the record into a field of its own",
    );
}

/** How two tests of a keyword become one. */
const MERGES: Readonly<Record<string, (one: never, other: never) => unknown>> = {
  required: (one: string[], other: string[]) => [...new Set([...one, ...other])],
  enum: (one: unknown[], other: unknown[]) => one.filter((a) => other.some((b) => isEqual(a, b))),
  allOf: (one: unknown[], other: unknown[]) => [...one, ...other],
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
};

/** Both tests in one. Where a keyword cannot say both, the other one stands in `allOf`. */
function intersectTests(one: JsonObject, other: JsonObject): JsonObject {
  const both: JsonObject = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const first = own(one, name);
    const merge = MERGES[name];
    if (first === undefined || isEqual(first, value)) both[name] = value;
    else if (merge) both[name] = merge(first as never, value as never);
    else return { ...one, allOf: [...((one["allOf"] as unknown[] | undefined) ?? []), other] };
  }
  return both;
}
