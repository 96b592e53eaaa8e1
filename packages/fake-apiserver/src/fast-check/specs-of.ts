import { type Kinds, kind, read, requireMethods, requireOptions } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { KubeObject, Resource } from "@holdfast/kubernetes";
import type { Arbitrary } from "fast-check";
import { isObject, own, propertiesOf } from "../object/json.ts";
import { servedResource } from "../server/resource/served-resource.ts";
import { acceptsSpec } from "./accepts.ts";
import { Bounded } from "./bounded.ts";
import { schemaArbitrary } from "./schema-arbitrary.ts";

export const SPECS_OPTIONS: Kinds<SpecsOptions> = {
  fields: kind("arbitraries", requireArbitraries),
};

/** Type of the field `spec` of an object. */
export type SpecOf<T extends KubeObject> = T extends { readonly spec?: infer S }
  ? NonNullable<S>
  : unknown;

/** Options for {@link specsOf}. */
export interface SpecsOptions {
  /**
   * Arbitraries for some fields, by their path in the spec, as in `zone`, `ports[].name` and `labels.*`: for texts
   * whose form the schema does not tell, and for names that must meet those of other objects.
   *
   * @defaultValue none: the schema decides
   */
  readonly fields?: Readonly<Record<string, Arbitrary<unknown>>> | undefined;
}

/**
 * Specs of a custom resource, drawn from the schema of its CRD: types, enumerations, limits, patterns, formats,
 * required and nullable fields, maps, lists with keys, `x-kubernetes-int-or-string`,
 * `x-kubernetes-preserve-unknown-fields`. Every spec keeps the rules in `x-kubernetes-validations` and the
 * combinations `allOf`, `anyOf`, `oneOf` and `not`, so a server creates an object with it.
 *
 * Optional fields are present or absent, so defaults apply now and then. A number with one limit is at most 100
 * away from it, one with none is between -100 and 100. A text has at most 10 letters more than it must, and now and
 * then the greatest length.
 *
 * Needs the package `fast-check`.
 *
 * @param resource - a resource of `fromCrd`, whose manifest has a schema
 * @param options - see {@link SpecsOptions}
 * @returns an arbitrary. It throws a RangeError if none of 1,000 specs drawn is accepted
 * @throws RangeError or TypeError that names the argument, or a field for which no value can be drawn
 *
 * @example
 * ```ts
 * import { fromCrd, type KubeObject } from "@holdfast/kubernetes";
 * import { specsOf } from "@holdfast/fake-apiserver/fast-check";
 * import * as fc from "fast-check";
 *
 * interface GreetingObject extends KubeObject {
 *   spec: { name: string; times?: number };
 * }
 * const name = { type: "string", enum: ["Ann", "Bob"] };
 * const times = { type: "integer", minimum: 1, maximum: 3 };
 * const spec = { type: "object", required: ["name"], properties: { name, times } };
 * const openAPIV3Schema = { type: "object", properties: { spec } };
 * const Greeting = fromCrd<GreetingObject>({
 *   apiVersion: "apiextensions.k8s.io/v1",
 *   kind: "CustomResourceDefinition",
 *   spec: {
 *     group: "example.org", scope: "Namespaced", names: { kind: "Greeting", plural: "greetings" },
 *     versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
 *   },
 * });
 * const specs = fc.sample(specsOf(Greeting), { seed: 1, numRuns: 100 });
 * console.log(specs.every(({ times = 1 }) => times >= 1 && times <= 3)); // => true
 * console.log(new Set(specs.map(({ name }) => name)).size); // => 2
 * ```
 */
export function specsOf<T extends KubeObject>(
  resource: Resource<T>,
  options: SpecsOptions = {},
): Arbitrary<SpecOf<T>> {
  requireResource(resource);
  const { fields = {} } = read("options", options, "specsOf", SPECS_OPTIONS);
  const { kind } = resource;
  const { schema } = servedResource(resource);
  const spec = schema && own(propertiesOf(schema), "spec");
  if (!isObject(spec))
    throw new RangeError(
      `resource must come from fromCrd, with a schema that has a spec, got ${kind} without one`,
    );
  const found = new Set<string>();
  const specs = schemaArbitrary(spec, { path: "", fields, found });
  for (const path of Object.keys(fields))
    if (!found.has(path))
      throw new RangeError(
        `options.fields must have paths of the spec (${[...found].filter(Boolean).join(", ")}), got ${JSON.stringify(path)}`,
      );
  return new Bounded(
    specs,
    acceptsSpec(resource),
    (draws) =>
      new RangeError(
        `of ${draws} specs drawn for ${kind} its schema and rules accept none; draw the fields that its rules compare yourself, with options.fields`,
      ),
  ) as Arbitrary<SpecOf<T>>;
}

function requireArbitraries(path: string, fields: NonNullable<SpecsOptions["fields"]>): void {
  requireOptions(path, fields);
  for (const [name, arbitrary] of Object.entries(fields))
    requireMethods(`${path}.${name}`, arbitrary, ["generate", "shrink"]);
}
