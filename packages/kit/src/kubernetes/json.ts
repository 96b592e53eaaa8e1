/** An object of JSON. */
export interface JsonObject {
  [name: string]: unknown;
}

/** Whether a value is an object of JSON, and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of an own field, or undefined. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The fields that `properties` of a schema describes. */
export function propertiesOf(schema: JsonObject): JsonObject {
  const properties = own(schema, "properties");
  return isObject(properties) ? properties : {};
}

/** Some fields of an object, without those that are undefined. */
export function pick(object: JsonObject, names: readonly string[]): JsonObject {
  const given = names.filter((name) => own(object, name) !== undefined);
  return Object.fromEntries(given.map((name) => [name, object[name]]));
}

/** An object without some of its fields. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  const rest = { ...object };
  for (const name of names) delete rest[name];
  return rest;
}

/** Whether two values of JSON are equal. The order of fields does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  );
}
