import type { Resource } from "../object/resource.ts";
import { ruleCauses } from "../testing/cel/rules.ts";
import { Failure } from "../testing/failure.ts";
import { isObject, type JsonObject, own } from "../testing/json.ts";
import { schemaCauses } from "../testing/schema/check-schema.ts";
import { applySchema, propertiesOf } from "../testing/schema/schema.ts";
import { servedResource } from "../testing/served-resource.ts";
import { normalize } from "../testing/write/normalize.ts";
import { requireValid } from "../testing/write/validate.ts";

/** A test for the specs with which a server would create an object of `resource`. */
export function acceptsSpec(resource: Resource): (spec: unknown) => boolean {
  const served = servedResource(resource);
  const { apiVersion, kind, scope } = resource;
  const metadata = { name: "a", ...(scope === "Namespaced" && { namespace: "default" }) };
  return (spec) => {
    const { object } = normalize(served, { apiVersion, kind, metadata, spec });
    try {
      requireValid(served, object);
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
    return fitsCombinations(served.schema as JsonObject, object);
  };
}

/** A test for the values of one field that has rules or combinations. Undefined: it has none. */
export function acceptsField(schema: JsonObject): ((value: unknown) => boolean) | undefined {
  if (!BOUND.some((name) => Object.hasOwn(schema, name))) return undefined;
  const parent = { type: "object", properties: { field: schema } };
  return (field) => {
    const { value } = applySchema(parent, { field });
    const causes = [...schemaCauses(parent, value, ""), ...ruleCauses(parent, value, undefined)];
    return causes.length === 0 && fitsCombinations(parent, value);
  };
}

const BOUND = ["x-kubernetes-validations", "allOf", "anyOf", "oneOf", "not"];

/** Whether a value is as `allOf`, `anyOf`, `oneOf` and `not` have it, on every level: `FakeApi` does not check those. */
function fitsCombinations(schema: JsonObject, value: unknown): boolean {
  if (value === null) return true;
  const { allOf, anyOf, oneOf, not } = schema;
  const fits = (one: unknown): boolean => isObject(one) && isOfSchema(one, value);
  if (Array.isArray(allOf) && !allOf.every(fits)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(fits)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return false;
  if (isObject(not) && fits(not)) return false;
  return membersOf(schema, value).every(([below, member]) => fitsCombinations(below, member));
}

function isOfSchema(schema: JsonObject, value: unknown): boolean {
  return [...schemaCauses(schema, value, "")].length === 0 && fitsCombinations(schema, value);
}

function membersOf(schema: JsonObject, value: unknown): [schema: JsonObject, value: unknown][] {
  const items = own(schema, "items");
  if (Array.isArray(value) && isObject(items)) return value.map((item) => [items, item]);
  if (!isObject(value)) return [];
  const properties = propertiesOf(schema);
  return Object.entries(value).flatMap(([name, member]): [JsonObject, unknown][] => {
    const below = own(properties, name) ?? own(schema, "additionalProperties");
    return isObject(below) ? [[below, member]] : [];
  });
}
