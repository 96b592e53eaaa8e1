import { readFileSync } from "node:fs";
import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { specsOf } from "@holdfast/fake-apiserver/fast-check";
import {
  builtIn,
  customResource,
  fromCrd,
  type KubeObject,
  type Resource,
} from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { parseAllDocuments } from "yaml";
import * as conformance from "../../conformance/resources.ts";
import { resourceWith, type Schema, specSchemas } from "./schemas.ts";

const RUNS = inject("isThorough") ? 10_000 : inject("isAll") ? 300 : 50;

/** Creates an object with a spec. @returns the spec as it is stored */
async function stored(resource: Resource, spec: unknown): Promise<unknown> {
  const api = new FakeApi({ clock: new FakeClock(), resources: [resource] });
  const metadata = { name: "a", ...(resource.scope === "Namespaced" && { namespace: "default" }) };
  const object = await api.client.create(resource, { metadata, spec } as never);
  return (object as { spec?: unknown }).spec;
}

// biome-ignore lint/suspicious/noExplicitAny: each test knows the values of its schema
type Drawn = any;

const draw = <T = Drawn>(schema: Schema, numRuns = 200): T[] =>
  fc.sample(specsOf(resourceWith(schema)), { numRuns, seed: 1 }) as T[];

const field = (schema: Schema): Drawn[] =>
  draw<{ x: unknown }>({ type: "object", required: ["x"], properties: { x: schema } }).map(
    ({ x }) => x,
  );

const CRDS = [
  ...["greeter/deploy/crd.yaml", "dns-sync/deploy/crds.yaml"].flatMap((path) => {
    const url = new URL(`../../../examples/src/${path}`, import.meta.url);
    return parseAllDocuments(readFileSync(url, "utf8")).map((one) => one.toJS() as object);
  }),
  // The rules of the other manifest are expressions for recordings: some hold for no value.
  conformance.widgetCrd,
  conformance.zoneCrd,
  conformance.formatCrd,
];

test("a server creates an object with every spec drawn from a random schema", async () => {
  const cases = specSchemas.chain((schema) => {
    const resource = resourceWith(schema);
    return specsOf(resource).map((spec) => ({ schema, resource, spec }));
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ resource, spec }) => {
      await stored(resource, spec);
    }),
    { numRuns: RUNS },
  );
});

test.each(CRDS.map((crd) => [fromCrd(crd).kind, fromCrd(crd)] as const))(
  "a server creates an object with every spec drawn for %s",
  async (_, resource) => {
    await fc.assert(
      fc.asyncProperty(specsOf(resource), async (spec) => {
        await stored(resource, spec);
      }),
    );
  },
);

describe("the values of a field", () => {
  test("an enumeration gives each of its values and nothing else", () => {
    const values = new Set(field({ type: "string", enum: ["red", "green"] }));
    expect(values).toEqual(new Set(["red", "green"]));
  });

  test.each([".{2,}", "^(http|https)://.*$", "^[^:@]+(:[^:@/]+)?$", "[^a]"])(
    "texts of the pattern %s, whose classes reach the last letter of Unicode",
    (pattern) => {
      const values = field({ type: "string", pattern });
      expect(new Set(values).size).toBeGreaterThan(50);
      expect(values.filter((text) => !new RegExp(pattern, "su").test(text))).toEqual([]);
    },
  );

  test("a required field that the schema keeps without naming it has any value", () => {
    const open = { "x-kubernetes-preserve-unknown-fields": true };
    const inner = { type: "object", required: ["y"], properties: {}, ...open };
    const drawn = draw({
      type: "object",
      required: ["x", "inner"],
      properties: { inner },
      ...open,
    });
    expect(drawn.filter((spec) => !("x" in spec && "y" in spec.inner))).toEqual([]);
  });

  test("replicas are those that the subresource scale can show", () => {
    const replicas = { type: "integer" };
    const spec = { type: "object", required: ["n"], properties: { n: replicas } };
    const scale = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" };
    const resource = resourceWith(spec, { subresources: { status: {}, scale } });
    const drawn = fc.sample(specsOf(resource), { numRuns: 100, seed: 1 }) as { n: number }[];
    expect(Math.min(...drawn.map(({ n }) => n))).toBe(0);
  });

  test("integers reach both limits, and stay within 100 of the only one", () => {
    const both = field({ type: "integer", minimum: 1, maximum: 3 });
    expect(new Set(both)).toEqual(new Set([1, 2, 3]));
    const upwards = field({ type: "integer", minimum: 5 });
    expect(Math.min(...upwards)).toBe(5);
    expect(Math.max(...upwards)).toBeLessThanOrEqual(105);
    const downwards = field({ type: "integer", maximum: -5 });
    expect(Math.max(...downwards)).toBe(-5);
    expect(Math.min(...downwards)).toBeGreaterThanOrEqual(-105);
    expect(Math.min(...field({ type: "integer" }))).toBeLessThan(0);
  });

  test("exclusive limits and multiples are kept", () => {
    const open = { minimum: 0, maximum: 10, exclusiveMinimum: true, exclusiveMaximum: true };
    const values = field({ type: "integer", ...open, multipleOf: 5 });
    expect(new Set(values)).toEqual(new Set([5]));
    const halves = field({ type: "number", ...open, multipleOf: 2.5 });
    expect(new Set(halves)).toEqual(new Set([2.5, 5, 7.5]));
  });

  test("numbers are finite, and no zero is negative", () => {
    const values = field({ type: "number", minimum: -1, maximum: 1 });
    expect(values.every((value) => Number.isFinite(value) && !Object.is(value, -0))).toBe(true);
    expect(values.some((value) => !Number.isInteger(value))).toBe(true);
  });

  test("texts reach their greatest length and have letters of more than one byte", () => {
    const values = field({ type: "string", minLength: 2, maxLength: 253 });
    const lengths = values.map((value) => [...value].length);
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([2, 253]);
    expect(values.some((value) => Buffer.byteLength(value) > value.length)).toBe(true);
    const long = field({ type: "string", maxLength: 100_000 });
    expect(Math.max(...long.map((value) => value.length))).toBeLessThan(30);
  });

  test.each([
    ["(?i)^a[b-d]{2}$", /^a[b-d]{2}$/i],
    ["^[[:alpha:]]{1,4}$", /^[A-Za-z]{1,4}$/],
    [String.raw`\A[a-z0-9\_-]+\z`, /^[a-z0-9_-]+$/],
    ["^(?i)(debug|info)?$", /^(debug|info)?$/i],
  ])("a pattern of RE2 is read as the server reads it: %s", (pattern, expected) => {
    const values = field({ type: "string", pattern });
    expect(values.every((value) => expected.test(value))).toBe(true);
  });

  test("a pattern, a format and a length hold together", () => {
    const values = field({ type: "string", pattern: "^[a-z]+$", minLength: 12, maxLength: 14 });
    expect(values.every((value) => /^[a-z]{12,14}$/.test(value))).toBe(true);
    const names = field({ type: "string", format: "k8s-short-name", maxLength: 3 });
    expect(names.every((value) => /^[a-z][a-z0-9-]{0,2}$/.test(value))).toBe(true);
  });

  test("a nullable field is null now and then, an enumeration only in allOf", () => {
    expect(field({ type: "string", nullable: true })).toContain(null);
    expect(field({ type: "string", nullable: true, enum: ["a"] })).not.toContain(null);
    expect(field({ type: "string", nullable: true, enum: ["a", null] })).not.toContain(null);
    const listed = field({ type: "string", nullable: true, allOf: [{ enum: ["a", "b"] }] });
    expect(new Set(listed)).toEqual(new Set(["a", "b", null]));
  });

  test("an int-or-string gives numbers and percentages", () => {
    const values = field({ "x-kubernetes-int-or-string": true });
    expect(values.some(Number.isInteger)).toBe(true);
    expect(values.some((value) => /^\d+%$/.test(value))).toBe(true);
  });

  test("a list with keys has no key twice, a default counting as a key", () => {
    const protocol = { type: "string", enum: ["TCP", "UDP"], default: "TCP" };
    const lists = field({
      type: "array",
      items: { type: "object", properties: { protocol } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["protocol"],
    });
    const sizes = new Set(lists.map((list) => list.length));
    expect(sizes).toEqual(new Set([0, 1, 2]));
    for (const list of lists) {
      const keys = list.map((item: { protocol?: string }) => item.protocol ?? "TCP");
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test("a map keeps the limits of its size", () => {
    const maps = field({
      type: "object",
      additionalProperties: { type: "integer" },
      minProperties: 1,
      maxProperties: 2,
    });
    expect(new Set(maps.map((map) => Object.keys(map).length))).toEqual(new Set([1, 2]));
  });

  test("an object that keeps unknown fields gets some, which never hide a known one", () => {
    const known = { type: "string", enum: ["k"] };
    const objects = field({
      type: "object",
      properties: { known },
      "x-kubernetes-preserve-unknown-fields": true,
    });
    expect(objects.some((object) => Object.keys(object).some((name) => name !== "known"))).toBe(
      true,
    );
    expect(objects.every(({ known: value = "k" }) => value === "k")).toBe(true);
    expect(
      field({ type: "object", additionalProperties: true }).some((o) => Object.keys(o).length),
    ).toBe(true);
  });

  test("an embedded object has its kind and its name", () => {
    const objects = field({ type: "object", "x-kubernetes-embedded-resource": true });
    expect(objects.every((object) => object.kind !== undefined && object.metadata.name)).toBe(true);
  });
});

describe("the fields of an object", () => {
  const oneOf = (names: string[]) => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])),
  });

  test("required fields are always there, others now and then", () => {
    const specs = draw({ ...oneOf(["a", "b"]), required: ["a"] });
    expect(specs.every((spec) => "a" in spec)).toBe(true);
    expect(new Set(specs.map((spec) => "b" in spec)).size).toBe(2);
  });

  test("a union of one of ten fields by maxProperties", () => {
    const names = [..."abcdefghij"];
    const specs = draw({ ...oneOf(names), minProperties: 1, maxProperties: 1 });
    expect(new Set(specs.map((spec) => Object.keys(spec).join()))).toEqual(new Set(names));
  });

  test("combinations hold", () => {
    const specs = draw({
      ...oneOf(["a", "b", "c"]),
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      allOf: [{ properties: { a: { enum: [true] } } }],
      anyOf: [{ required: ["c"] }, { required: ["b"] }],
      not: { required: ["b", "c"] },
    });
    const shapes = new Set(specs.map((spec) => Object.keys(spec).sort().join()));
    expect(shapes).toEqual(new Set(["b", "a,c"]));
    expect(specs.every(({ a = true }) => a)).toBe(true);
  });

  test("combinations within lists and maps hold", () => {
    const value = { type: "integer", not: { enum: [1] } };
    const small = { ...value, minimum: 0, maximum: 2 };
    const specs = draw({
      type: "object",
      properties: {
        list: { type: "array", maxItems: 2, items: small },
        map: { type: "object", maxProperties: 2, additionalProperties: small },
        none: { type: "integer", nullable: true, not: { enum: [null] } },
      },
    });
    expect(
      specs.flatMap(({ list = [], map = {} }) => [...list, ...Object.values(map)]),
    ).not.toContain(1);
  });

  test("rules of x-kubernetes-validations hold", () => {
    const limit = { type: "integer", minimum: 0, maximum: 9 };
    const specs = draw({
      type: "object",
      required: ["low", "high"],
      properties: { low: limit, high: limit },
      "x-kubernetes-validations": [{ rule: "self.low <= self.high" }],
    });
    expect(specs.every(({ low, high }) => low <= high)).toBe(true);
  });
});

describe("fields drawn by the user", () => {
  const Thing = resourceWith({
    type: "object",
    required: ["zone", "ports", "labels"],
    properties: {
      zone: { type: "string" },
      ports: {
        type: "array",
        minItems: 1,
        items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      },
      labels: { type: "object", minProperties: 1, additionalProperties: { type: "string" } },
    },
  });

  test("take the place of those of the schema", () => {
    const one = fc.constant("one");
    const fields = { zone: one, "ports[].name": one, "labels.*": one };
    for (const spec of fc.sample(specsOf(Thing, { fields }), 20) as Drawn[]) {
      const values = [
        spec.zone,
        ...spec.ports.map((port: { name: string }) => port.name),
        ...Object.values(spec.labels),
      ];
      expect(new Set(values)).toEqual(new Set(["one"]));
    }
  });

  test("rejects a path that the schema does not have, and names those that it has", () => {
    expect(() => specsOf(Thing, { fields: { "ports.name": fc.constant("a") } })).toThrow(
      'options.fields must have paths of the spec (zone, ports, ports[], ports[].name, labels, labels.*), got "ports.name"',
    );
  });
});

describe("specs that cannot be drawn", () => {
  test("rejects a resource without a schema", () => {
    const problem = "resource must come from fromCrd, with a schema that has a spec, got";
    expect(() => specsOf(builtIn("v1", "ConfigMap"))).toThrow(problem);
    const names = { apiVersion: "example.org/v1", kind: "Thing", plural: "things" };
    expect(() => specsOf(customResource<KubeObject>(names))).toThrow(
      `${problem} Thing without one`,
    );
  });

  test("rejects a pattern that fast-check cannot draw, and names the option that helps", () => {
    const spec = { type: "object", properties: { name: { type: "string", pattern: "\\" } } };
    expect(() => specsOf(resourceWith(spec))).toThrow(
      "specsOf cannot draw the field name: fast-check cannot draw texts of the pattern '\\'; draw it yourself with fields: { \"name\": … }",
    );
  });

  test("rejects a pattern that no text of the length has", () => {
    expect(() => field({ type: "string", pattern: "^a$", minLength: 2 })).toThrow(
      "specsOf cannot draw the field x: of 1000 texts drawn none keeps pattern, format and length",
    );
  });

  test("rejects rules that no value of a field keeps", () => {
    const never = { type: "boolean", "x-kubernetes-validations": [{ rule: "false" }] };
    expect(() => field(never)).toThrow(
      "specsOf cannot draw the field x: of 1000 values drawn none keeps its rules",
    );
  });

  test("rejects rules that no spec keeps", () => {
    const rules = { "x-kubernetes-validations": [{ rule: "self.a > 5" }] };
    const a = { type: "integer", maximum: 5 };
    expect(() => draw({ type: "object", required: ["a"], properties: { a }, ...rules })).toThrow(
      "of 1000 specs drawn for Thing its schema and rules accept none; draw the fields that its rules compare yourself, with options.fields",
    );
  });
});

test("shrinks to the smallest spec that fails", () => {
  const size = { type: "integer", minimum: 1, maximum: 100 };
  const spec = {
    type: "object",
    required: ["size"],
    properties: { size, name: { type: "string" } },
  };
  const specs = specsOf(resourceWith<KubeObject & { spec: { size: number } }>(spec));
  const { counterexample } = fc.check(fc.property(specs, (one) => one.size < 17));
  expect(counterexample).toEqual([{ size: 17 }]);
  expect(specs.canShrinkWithoutContext({ size: 0 })).toBe(false);
  expect(specs.canShrinkWithoutContext("17")).toBe(false);
});
