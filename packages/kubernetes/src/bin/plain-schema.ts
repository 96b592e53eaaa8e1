import type { JSONSchema } from "json-schema-to-typescript";

/** The part of the schema of a CRD that a type can say. */
export interface CrdSchema {
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: { readonly [name: string]: CrdSchema } | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: CrdSchema | boolean | undefined;
  readonly items?: CrdSchema | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly nullable?: boolean | undefined;
  readonly "x-kubernetes-int-or-string"?: boolean | undefined;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean | undefined;
}

/**
 * The schema of a CRD as JSON schema, with the keywords that make a type and no others: `oneOf`, `not` and the like
 * only restrict values in a CRD, and a compiler takes them for unions.
 */
export function plainSchema(schema: CrdSchema): JSONSchema {
  const { description, nullable } = schema;
  const value = valueSchema(schema);
  return {
    ...(nullable === true ? { anyOf: [value, { type: "null" }] } : value),
    // A text alone: an object would be read as a schema, with references to follow.
    ...(typeof description === "string" && { description }),
  };
}

function valueSchema(schema: CrdSchema): JSONSchema {
  if (schema["x-kubernetes-int-or-string"] === true) return { type: ["number", "string"] };
  if (schema.enum?.some((value) => typeof value === "object" && value !== null))
    return { tsType: "unknown" };
  if (schema.enum !== undefined)
    return { enum: [...schema.enum] as NonNullable<JSONSchema["enum"]> };
  switch (schema.type) {
    case "object":
      return objectSchema(schema);
    case "array":
      return { type: "array", items: plainSchema(schema.items ?? {}) };
    case "string":
    case "boolean":
    case "integer":
    case "number":
      return { type: schema.type };
    default:
      return { tsType: "unknown" };
  }
}

function objectSchema(schema: CrdSchema): JSONSchema {
  const { properties, required = [], additionalProperties } = schema;
  const names = Object.keys(properties ?? {});
  const isOpen = names.length === 0 || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, one]) => [name, plainSchema(one)]),
    ),
    required: required.filter((name) => names.includes(name)),
    additionalProperties:
      typeof additionalProperties === "object" ? plainSchema(additionalProperties) : isOpen,
  };
}
