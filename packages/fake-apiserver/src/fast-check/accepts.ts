import type { Resource } from "@holdfast/kubernetes";
import { ruleCauses } from "../crd-rules/cel/rules.ts";
import { identityCauses, schemaCauses } from "../crd-rules/validation/check-schema.ts";
import { applySchema } from "../crd-rules/validation/schema.ts";
import type { JsonObject } from "../object/json.ts";
import { Failure } from "../server/failure.ts";
import { normalize } from "../server/resource/normalize.ts";
import { servedResource } from "../server/resource/served-resource.ts";
import { requireValid } from "../server/write/validate.ts";

/** A test for the specs with which a server would create an object of `resource`. */
export function acceptsSpec(resource: Resource): (spec: unknown) => boolean {
  const served = servedResource(resource);
  const { apiVersion, kind, scope } = resource;
  const metadata = { name: "a", ...(scope === "Namespaced" && { namespace: "default" }) };
  return (spec) => {
    const { object } = normalize(served, { apiVersion, kind, metadata, spec });
    try {
      requireValid(served, object);
      return true;
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
  };
}

/** A test for the values of one field that has rules or combinations. Undefined: it has none. */
export function acceptsField(schema: JsonObject): ((value: unknown) => boolean) | undefined {
  if (!BOUND.some((name) => Object.hasOwn(schema, name))) return undefined;
  const parent = { type: "object", properties: { field: schema } };
  return (field) => {
    const { value } = applySchema(parent, { field });
    const causes = [
      ...schemaCauses(parent, value, ""),
      ...identityCauses(parent, value, ""),
      ...ruleCauses(parent, value, undefined),
    ];
    return causes.length === 0;
  };
}

const BOUND = ["x-kubernetes-validations", "allOf", "anyOf", "oneOf", "not"];
