// Random schemas as a CRD may have them, and resources of them.

import { fromCrd, type KubeObject, type Resource } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { crdOf } from "../../../../test/crd.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** A custom resource whose spec has this schema. */
export function resourceWith<T extends KubeObject>(
  spec: unknown,
  version: object = {},
): Resource<T> {
  const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return fromCrd<T>(
    crdOf({
      kind: "Thing",
      properties: { spec, status },
      root: { required: ["spec"] },
      version: { subresources: { status: {} }, ...version },
    }),
  );
}

const integer = fc
  .record(
    {
      limits: fc.option(
        fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 3, max: 500 })),
      ),
      hasMaximum: fc.boolean(),
      exclusiveMinimum: fc.boolean(),
      exclusiveMaximum: fc.boolean(),
      multipleOf: fc.constantFrom(undefined, 1),
      type: fc.constantFrom("integer", "number"),
    },
    { noNullPrototype: true },
  )
  .map(({ limits, hasMaximum, ...rest }) =>
    limits === null
      ? { type: rest.type }
      : { ...rest, minimum: limits[0], ...(hasMaximum && { maximum: limits[0] + limits[1] }) },
  );

const FORMATS =
  "bsonobjectid byte cidr creditcard date date-time datetime duration email hexcolor hostname ipv4 ipv6 isbn isbn10 isbn13 k8s-long-name k8s-short-name mac password rgbcolor ssn uri uuid uuid3 uuid4 uuid5".split(
    " ",
  );

const text = fc.oneof(
  fc
    .tuple(fc.nat({ max: 20 }), fc.nat({ max: 20 }))
    .map(([minLength, more]) => ({ type: "string", minLength, maxLength: minLength + more })),
  fc
    .constantFrom(
      "^[a-z]+$",
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      "x",
      "^v[0-9]+(alpha|beta)?$",
      "^$|^a",
    )
    .map((pattern) => ({ type: "string", pattern, maxLength: 63 })),
  fc.constantFrom(...FORMATS).map((format) => ({ type: "string", format })),
  fc.constant({ type: "string", enum: ["red", "green", "blue"] }),
);

const KEYED = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "protocol"],
  items: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", enum: ["a", "b"] },
      protocol: { type: "string", enum: ["TCP", "UDP"], default: "TCP" },
      port: { type: "integer", minimum: 1, maximum: 65_535 },
    },
  },
};

/** Schemas of a spec, at most three levels deep. */
export const specSchemas: fc.Arbitrary<Schema> = fc.letrec<{ any: Schema; object: Schema }>(
  (tie) => ({
    any: fc.oneof(
      { depthIdentifier: "schema", maxDepth: 3 },
      integer,
      text,
      fc.constant({ type: "boolean" }),
      fc.constant({
        "x-kubernetes-int-or-string": true,
        anyOf: [{ type: "integer" }, { type: "string" }],
      }),
      fc.constant({ "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%?$" }),
      fc.constant({ "x-kubernetes-preserve-unknown-fields": true }),
      fc.constant({
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      }),
      fc.constant({ type: "array", items: { type: "boolean" } }),
      fc.constant({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" }),
      fc.constant(KEYED),
      fc
        .tuple(tie("any"), fc.nat({ max: 2 }))
        .map(([items, minItems]) => ({ type: "array", items, minItems, maxItems: 4 })),
      tie("any").map((additionalProperties) => ({
        type: "object",
        additionalProperties,
        maxProperties: 3,
      })),
      tie("object"),
    ),
    object: fc
      .tuple(
        fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), tie("any"), {
          minKeys: 1,
          noNullPrototype: true,
        }),
        fc.boolean(),
        fc.boolean(),
        fc.option(fc.nat({ max: 2 })),
      )
      .map(([properties, isRequired, isNullable, more]) => ({
        type: "object",
        properties,
        ...(isRequired && { required: Object.keys(properties).slice(0, 1) }),
        ...(isNullable && { nullable: true }),
        ...(more !== null && { maxProperties: 1 + more }),
      })),
  }),
).object;
