// The fields of the spec of a CustomResourceDefinition, with their types.
import { isObject, type JsonObject, own } from "../../object/json.ts";

type Shape = "string" | "boolean" | "integer" | "schema" | readonly [Shape] | Shapes;

interface Shapes {
  readonly [field: string]: Shape;
}

const SPEC: Shapes = {
  group: "string",
  scope: "string",
  preserveUnknownFields: "boolean",
  names: {
    ...{ kind: "string", listKind: "string", plural: "string", singular: "string" },
    ...{ shortNames: ["string"], categories: ["string"] },
  },
  conversion: {
    strategy: "string",
    webhook: {
      conversionReviewVersions: ["string"],
      clientConfig: {
        ...{ url: "string", caBundle: "string" },
        service: { name: "string", namespace: "string", path: "string", port: "integer" },
      },
    },
  },
  versions: [
    {
      ...{ name: "string", served: "boolean", storage: "boolean" },
      ...{ deprecated: "boolean", deprecationWarning: "string" },
      schema: { openAPIV3Schema: "schema" },
      selectableFields: [{ jsonPath: "string" }],
      subresources: {
        status: {},
        scale: {
          specReplicasPath: "string",
          statusReplicasPath: "string",
          labelSelectorPath: "string",
        },
      },
      additionalPrinterColumns: [
        {
          ...{ name: "string", type: "string", format: "string", description: "string" },
          ...{ priority: "integer", jsonPath: "string" },
        },
      ],
    },
  ],
};

/** Fields of objects within a schema that are no schemas. */
const WITHIN_SCHEMA: Shapes = {
  externalDocs: { url: "string", description: "string" },
  "x-kubernetes-validations": [
    {
      ...{ rule: "string", message: "string", messageExpression: "string" },
      ...{ reason: "string", fieldPath: "string", optionalOldSelf: "boolean" },
    },
  ],
};

/** What a server removes from a manifest, or refuses to read: a path, and the reason. */
interface Finding {
  readonly isRefused: boolean;
  readonly text: string;
}

/** Unknown fields of the manifest of a resource, and those of another type, without those of its schemas. */
export function specFindings(crd: object): Generator<Finding> {
  return findings(own(crd as JsonObject, "spec"), SPEC, "spec");
}

/** The same of the rules and links of a schema. */
export function* schemaFindings(
  schema: JsonObject,
  at: (field: string) => string,
): Generator<Finding> {
  for (const [field, shape] of Object.entries(WITHIN_SCHEMA))
    yield* findings(own(schema, field), shape, at(field));
}

function* findings(value: unknown, shape: Shape, path: string): Generator<Finding> {
  if (value === undefined || value === null || shape === "schema") return;
  if (!isOf(value, shape))
    yield {
      isRefused: true,
      text: `${path} must be ${typeOf(shape)}, got ${JSON.stringify(value)}`,
    };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries())
      yield* findings(item, (shape as readonly [Shape])[0], `${path}[${index}]`);
  else if (isObject(value)) yield* memberFindings(value, shape as Shapes, path);
}

function* memberFindings(value: JsonObject, shapes: Shapes, path: string): Generator<Finding> {
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}.${name}`;
    const known = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (known !== undefined) yield* findings(member, known, at);
    else yield { isRefused: false, text: `${at} is no field of a manifest, and is ignored` };
  }
}

function typeOf(shape: Shape): string {
  if (typeof shape !== "string") return Array.isArray(shape) ? "an array" : "an object";
  return shape === "integer" ? "an integer" : `a ${shape}`;
}

function isOf(value: unknown, shape: Shape): boolean {
  if (shape === "integer") return Number.isInteger(value);
  if (typeof shape === "string") return typeof value === shape;
  return Array.isArray(shape) ? Array.isArray(value) : isObject(value);
}
