import { fromRe2, type JsonObject, PatternError } from "@holdfast/kit/kubernetes";
import { schemaError } from "./schema-error.ts";

/** The structural schema that allows every value. */
export function anything(): JsonObject {
  return { "x-kubernetes-preserve-unknown-fields": true };
}

/** Whether a structural schema allows every value. */
export function isAnything(schema: JsonObject): boolean {
  return schema["type"] === undefined && schema["x-kubernetes-preserve-unknown-fields"] === true;
}

/** The values of `enum` or `const` without null, and their type. */
export function enumOf(
  schema: JsonObject,
  path: string,
): { readonly type: string; readonly values: readonly unknown[] } {
  const given = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  const values = given.filter((value) => value !== null);
  const types = new Set(values.map(typeOfValue));
  const [type, ...more] = types.has("number") ? withoutType(types, "integer") : types;
  if (type === undefined) throw schemaError(path, "it allows only null", "leave the field out");
  if (more.length > 0 || type === "object")
    throw schemaError(path, "its values have several types", "use texts, or integers");
  return { type, values };
}

function withoutType(types: ReadonlySet<string>, type: string): Set<string> {
  return new Set([...types].filter((one) => one !== type));
}

function typeOfValue(value: unknown): string {
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Formats that a server checks. */
const FORMATS: ReadonlySet<unknown> = new Set([
  ...["bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "byte"],
  ...["uuid", "uuid3", "uuid4", "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn"],
  ...["hexcolor", "rgbcolor", "password", "date", "date-time", "datetime"],
  ...["k8s-short-name", "k8s-long-name"],
]);

/** The rules for texts. The lengths count characters on the server, and UTF-16 units in JavaScript. */
export function textRules(schema: JsonObject, path: string): JsonObject {
  const { minLength, maxLength, pattern, format } = schema;
  return {
    ...(typeof minLength === "number" && { minLength }),
    ...(typeof maxLength === "number" && { maxLength }),
    ...(typeof pattern === "string" && { pattern: serverPattern(pattern, path) }),
    // Beside a pattern, which says the same, a format would only harm: a server lets every list pass for a text with one.
    ...(FORMATS.has(format) && pattern === undefined && { format }),
  };
}

/** Parts of patterns that RE2, with which a server matches, does not have. */
const NOT_RE2: readonly (readonly [RegExp, string])[] = [
  [/\(\?<?[=!]/, "a lookaround"],
  [/\\[1-9]|\\k</, "a backreference"],
  [/\[\^?\]/, "an empty class"],
];

function serverPattern(pattern: string, path: string): string {
  const plain = pattern.replaceAll("\\\\", "");
  for (const [part, name] of NOT_RE2)
    if (part.test(plain))
      throw schemaError(
        path,
        `its pattern has ${name}, which RE2 lacks`,
        "write it without, or as a rule",
      );
  const tooMany = [...plain.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].some(([, least, most]) =>
    [least, most].some((count) => Number(count) > 1_000),
  );
  if (tooMany)
    throw schemaError(
      path,
      "its pattern repeats more than 1,000 times",
      "limit the length instead",
    );
  const written = pattern.replaceAll(
    /(?<!\\)((?:\\\\)*)\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/gi,
    String.raw`$1\x{$2$3}`,
  );
  try {
    fromRe2(written);
    return written;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw schemaError(path, `RE2 refuses its pattern: ${error.message}`, "write it without");
  }
}

/** The rules for numbers. Those of an integer of JavaScript stay: a larger one would change when it is read. */
export function numberRules(schema: JsonObject, path: string): JsonObject {
  const { type, multipleOf, format } = schema;
  const least = limitOf(schema, "minimum", "exclusiveMinimum");
  const most = limitOf(schema, "maximum", "exclusiveMaximum");
  if (typeof multipleOf === "number" && !Number.isInteger(multipleOf))
    throw schemaError(
      path,
      `a server rounds its multipleOf ${multipleOf}`,
      "use whole steps, or a rule",
    );
  if (Number(least["minimum"]) > Number(most["maximum"]))
    throw schemaError(path, "its minimum is above its maximum", "correct one of them");
  return {
    ...least,
    ...most,
    ...(typeof multipleOf === "number" && { multipleOf }),
    ...(type === "integer" && { format: format === "int32" ? "int32" : "int64" }),
    ...(type === "number" && (format === "float" || format === "double") && { format }),
  };
}

/**
 * A limit as a server has it: a number, and whether it is excluded. JSON schemas since draft 6 have two numbers,
 * of which the stricter one counts.
 */
function limitOf(
  schema: JsonObject,
  name: "minimum" | "maximum",
  exclusive: "exclusiveMinimum" | "exclusiveMaximum",
): JsonObject {
  const given = schema[name];
  const excluded = schema[exclusive];
  const sign = name === "minimum" ? 1 : -1;
  const isGiven = typeof given === "number";
  if (typeof excluded !== "number")
    return isGiven ? { [name]: given, ...(excluded === true && { [exclusive]: true }) } : {};
  const isStricter = !isGiven || sign * excluded >= sign * given;
  return isStricter ? { [name]: excluded, [exclusive]: true } : { [name]: given };
}
