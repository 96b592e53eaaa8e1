import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  type CustomResourceOptions,
  customResource,
  fromCrd,
  isApiError,
  type KubeObject,
  type Resource,
} from "@holdfast/kubernetes";
import { type } from "arktype";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { samples, strangers } from "./zod-samples.ts";

interface AnyObject extends KubeObject {
  spec: Record<string, unknown>;
}

const names = { apiVersion: "batch.example.org/v1", kind: "CronTask", plural: "crontasks" };

function resourceOf(options: Partial<CustomResourceOptions>): Resource<AnyObject> {
  return customResource<AnyObject>({ ...names, ...options });
}

interface Version {
  readonly schema: { readonly openAPIV3Schema: Record<string, unknown> };
}

function versionOf({ crd }: Resource<AnyObject>): Version & Record<string, unknown> {
  const { spec } = crd as { spec: { versions: [Version & Record<string, unknown>] } };
  return spec.versions[0];
}

/** The structural schema of a field `it` of a spec. */
function fieldOf(spec: CustomResourceOptions["spec"]): unknown {
  const { properties } = versionOf(resourceOf({ spec })).schema.openAPIV3Schema as {
    properties: { spec: { properties: { it: unknown } } };
  };
  return properties.spec.properties.it;
}

const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const integer = { type: "integer", format: "int64", ...safe };
const anything = { "x-kubernetes-preserve-unknown-fields": true };

describe("the structural schema of a field of zod", () => {
  it.each<[name: string, schema: z.ZodType, structural: object]>([
    ["text", z.string().min(1).max(3), { type: "string", minLength: 1, maxLength: 3 }],
    ["described text", z.string().describe("A name"), { type: "string", description: "A name" }],
    [
      "example",
      z.string().meta({ examples: ["a", "b"], title: "T" }),
      { type: "string", example: "a" },
    ],
    [
      "default",
      z.enum(["a", "b"]).default("a"),
      { type: "string", enum: ["a", "b"], default: "a" },
    ],
    ["constant", z.literal("a"), { type: "string", enum: ["a"] }],
    [
      "constants of a type",
      z.union([z.literal("a"), z.literal("b")]),
      { type: "string", enum: ["a", "b"] },
    ],
    ["boolean", z.boolean(), { type: "boolean" }],
    ["integer", z.int(), integer],
    ["limited integer", z.int().min(1).max(5), { ...integer, minimum: 1, maximum: 5 }],
    [
      "excluded limits",
      z.number().gt(1).lt(5),
      { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
    ],
    ["multiple", z.int().multipleOf(5), { ...integer, multipleOf: 5 }],
    [
      "format without a pattern",
      z.string().meta({ format: "date" }),
      { type: "string", format: "date" },
    ],
    ["format that no server checks", z.string().meta({ format: "color" }), { type: "string" }],
    [
      "text or integer",
      z.union([z.string(), z.int()]),
      { "x-kubernetes-int-or-string": true, ...safe },
    ],
    [
      "text or integer, limited",
      z.union([z.string().min(2), z.int().min(3)]),
      { "x-kubernetes-int-or-string": true, minLength: 2, ...safe, minimum: 3 },
    ],
    [
      "integer or number",
      z.union([z.int(), z.number().max(3)]),
      { type: "number", anyOf: [safe, { maximum: 3 }] },
    ],
    ["nullable", z.string().nullable(), { type: "string", nullable: true }],
    [
      "nullable constants",
      z.enum(["a"]).nullable(),
      { type: "string", nullable: true, allOf: [{ enum: ["a"] }] },
    ],
    [
      "texts of two kinds",
      z.union([z.string().min(3), z.string().regex(/^a/)]),
      { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^a" }] },
    ],
    [
      "two patterns",
      z.string().regex(/a/).regex(/b/),
      { type: "string", pattern: "a", allOf: [{ pattern: "b" }] },
    ],
    ["pattern with a flag", z.string().regex(/^a.b$/i), { type: "string", pattern: "(?i)^a.b$" }],
    [
      "optional pattern with flags",
      z.string().regex(/^a.b$/gimsu).optional(),
      { type: "string", pattern: "(?ims)^a.b$" },
    ],
    [
      "two patterns with flags",
      z.string().regex(/a/i).regex(/b/),
      { type: "string", pattern: "(?i)a", allOf: [{ pattern: "b" }] },
    ],
    [
      "list",
      z.array(z.int()).min(1).max(3),
      { type: "array", items: integer, minItems: 1, maxItems: 3 },
    ],
    [
      "record",
      z.record(z.string(), z.boolean()),
      { type: "object", additionalProperties: { type: "boolean" } },
    ],
    [
      "record with named keys",
      z.record(z.enum(["a"]), z.boolean()),
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] },
    ],
    [
      "object",
      z.object({ a: z.boolean(), b: z.string().optional() }),
      {
        type: "object",
        properties: { a: { type: "boolean" }, b: { type: "string" } },
        required: ["a"],
      },
    ],
    [
      "strict object",
      z.strictObject({ a: z.boolean() }),
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] },
    ],
    [
      "loose object",
      z.looseObject({ a: z.boolean() }),
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"], ...anything },
    ],
    [
      "both of two objects",
      z.object({ a: z.boolean() }).and(z.object({ b: z.string() })),
      {
        type: "object",
        properties: { a: { type: "boolean" }, b: { type: "string" } },
        required: ["a", "b"],
      },
    ],
    ["any value", z.unknown(), anything],
    [
      "union told by a field",
      z.discriminatedUnion("t", [
        z.object({ t: z.literal("a"), x: z.int().min(3) }),
        z.object({ t: z.literal("b"), y: z.string() }),
      ]),
      {
        type: "object",
        properties: {
          t: { type: "string", enum: ["a", "b"] },
          x: { ...integer, minimum: 3 },
          y: { type: "string" },
        },
        anyOf: [
          { required: ["t", "x"], properties: { t: { enum: ["a"] } } },
          { required: ["t", "y"], properties: { t: { enum: ["b"] } } },
        ],
      },
    ],
    [
      "union of lists",
      z.union([z.array(z.string()).max(2), z.array(z.string().min(3))]),
      {
        type: "array",
        items: { type: "string" },
        anyOf: [{ maxItems: 2 }, { items: { minLength: 3 } }],
      },
    ],
  ])("%s", (_, schema, structural) => {
    expect(fieldOf(z.object({ it: schema.optional() }))).toEqual(structural);
  });
});

describe("the structural schema of a JSON schema", () => {
  it.each<[name: string, schema: object, structural: object]>([
    [
      "limits of draft 4",
      { type: "number", minimum: 1, exclusiveMinimum: true },
      { type: "number", minimum: 1, exclusiveMinimum: true },
    ],
    [
      "both limits of draft 6",
      { type: "number", minimum: 1, exclusiveMinimum: 3 },
      { type: "number", minimum: 3, exclusiveMinimum: true },
    ],
    ["types", { type: ["string", "null"] }, { type: "string", nullable: true }],
    ["nullable of OpenAPI", { type: "string", nullable: true }, { type: "string", nullable: true }],
    ["int32", { type: "integer", format: "int32" }, { type: "integer", format: "int32" }],
    ["double", { type: "number", format: "double" }, { type: "number", format: "double" }],
    [
      "int-or-string",
      { "x-kubernetes-int-or-string": true, maxLength: 3 },
      { "x-kubernetes-int-or-string": true, maxLength: 3 },
    ],
    ["true", true as unknown as object, anything],
    [
      "set",
      { type: "array", items: { type: "string" }, uniqueItems: true },
      { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ],
    ["object with any field", { type: "object" }, { type: "object", ...anything }],
    [
      "unicode escapes",
      { type: "string", pattern: "^\\u00e9\\u{1f600}$" },
      { type: "string", pattern: "^\\x{00e9}\\x{1f600}$" },
    ],
    [
      "required beside anyOf",
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
    ],
  ])("%s", (_, schema, structural) => {
    expect(fieldOf({ type: "object", properties: { it: schema } })).toEqual(structural);
  });

  it("follows references", () => {
    const spec = {
      type: "object",
      properties: { it: { $ref: "#/$defs/a~1b", description: "mine" } },
      $defs: { "a/b": { type: "string", minLength: 2 } },
    };
    expect(fieldOf(spec)).toEqual({ type: "string", minLength: 2, description: "mine" });
  });
});

describe("a schema that no CustomResourceDefinition can express", () => {
  const tree: z.ZodType = z.object({ name: z.string(), children: z.array(z.lazy(() => tree)) });

  it.each<[name: string, schema: unknown, message: RegExp]>([
    ["tuple", z.tuple([z.string()]), /spec\.it: Kubernetes has no prefixItems; use an object/],
    ["date", z.date(), /spec has no JSON schema of its input: zod says "Date cannot/],
    [
      "transform",
      z.string().transform((text) => text.length),
      /spec has no JSON schema of its output: zod says "Transforms/,
    ],
    [
      "conversion",
      z.array(z.stringbool()),
      /spec\.it\[\]: it makes boolean of string, and a server transforms nothing; take/,
    ],
    [
      "record with a pattern",
      z.record(z.string().regex(/^a/), z.int()),
      /spec\.it: Kubernetes checks no names of fields \(pattern\); write a rule/,
    ],
    [
      "constant or integer",
      z.union([z.literal("auto"), z.int()]),
      /spec\.it: some of its values are listed.*write a rule such as "type\(self\) == int/,
    ],
    [
      "two types",
      z.union([z.boolean(), z.string()]),
      /spec\.it: a field has one type, and its values are of boolean and string; use an object/,
    ],
    ["constants of two types", z.literal(["a", 1]), /spec\.it: its values have several types/],
    [
      "default in one member",
      z.union([z.object({ a: z.int().default(1) }), z.object({ b: z.int() })]),
      /spec\.it\.a: a server would set its default in every member/,
    ],
    [
      "two defaults",
      z.union([z.object({ a: z.int().default(1) }), z.object({ a: z.int().default(2) })]),
      /spec\.it\.a: the members of its union have not the same default/,
    ],
    ["schema of itself", tree, /spec\.it\.children\[\]: it contains itself/],
    [
      "lookahead",
      z.string().regex(/(?=a)/),
      /spec\.it: its pattern has a lookaround, which RE2 lacks/,
    ],
    ["trim", z.string().trim(), /spec\.it: it has code that changes the value, as trim\(\)/],
    ["lower case", z.array(z.string().toLowerCase()), /spec\.it\[\]: it has code that changes/],
    ["other code", z.record(z.string(), z.string().normalize()), /spec\.it\.\*: it has code/],
    ["pipe", z.string().pipe(z.string().min(3)), /spec\.it: it has a pipe, and a server runs no/],
    ["code before", z.preprocess((text) => text, z.string()), /spec\.it: it has a pipe/],
    ["file", z.file(), /spec\.it: it has a file/],
    ["coercion", z.coerce.number(), /spec\.it: it has a coercion/],
    ["catch", z.object({ a: z.int().catch(1) }), /spec\.it\.a: it has catch\(\)/],
    ["sticky pattern", z.string().regex(/a/y), /spec\.it: its pattern has the flag y, which RE2/],
    ["pattern of JavaScript alone", z.string().regex(/a\cA/), /spec\.it: RE2 refuses its pattern/],
    ["list of nothing", { type: "array", items: false }, /spec\.it\[\]: it allows no value/],
    ["only null", z.null(), /spec\.it: it allows only null/],
    [
      "field beside a record",
      z.object({ a: z.string() }).catchall(z.string()),
      /spec\.it: Kubernetes has no named fields beside a record/,
    ],
    [
      "set of objects",
      { type: "array", items: { type: "object" }, uniqueItems: true },
      /spec\.it: Kubernetes compares only texts.*listKeys/,
    ],
    [
      "wrong limits",
      { type: "integer", minimum: 3, maximum: 2 },
      /spec\.it: its minimum is above its maximum/,
    ],
    ["condition", { type: "string", if: {} }, /spec\.it: Kubernetes has no if; write a rule/],
    [
      "negation",
      { type: "string", not: { enum: ["a"] } },
      /spec\.it: Kubernetes checks no not; write a rule/,
    ],
    ["unknown type", { type: "date" }, /spec\.it: Kubernetes has no type date/],
    ["lost reference", { $ref: "#/$defs/no" }, /spec\.it: #\/\$defs\/no refers to nothing/],
    ["foreign reference", { $ref: "https://example.org" }, /is no reference within it/],
    ["tuple of draft 7", { type: "array", items: [{}] }, /Kubernetes has no tuples/],
    [
      "contradiction",
      { allOf: [{ type: "string" }, { type: "boolean" }] },
      /spec\.it: no value is of string and boolean/,
    ],
    [
      "empty intersection",
      { allOf: [{ enum: ["a"] }, { enum: ["b"] }] },
      /spec\.it: it allows no value/,
    ],
    ["long repetition", { type: "string", pattern: "a{1001}" }, /repeats more than 1,000 times/],
  ])("%s is refused with its path, the reason and what to write", (_, schema, message) => {
    const spec =
      schema instanceof z.ZodType
        ? z.object({ it: schema })
        : { type: "object", properties: { it: schema } };
    expect(() => resourceOf({ spec })).toThrow(message);
    expect(() => resourceOf({ spec })).toThrow(RangeError);
  });

  it("is one of another value than an object", () => {
    expect(() => resourceOf({ spec: z.string() })).toThrow(
      /^spec must be a schema of objects, got one of string$/,
    );
    expect(() => resourceOf({ spec: z.object({}), status: z.unknown() })).toThrow(
      /^status must be a schema of objects, got one of any value$/,
    );
  });

  it("is one of a library without JSON schemas", () => {
    const spec = { "~standard": { version: 1, vendor: "old", validate: () => ({ value: 1 }) } };
    expect(() => resourceOf({ spec })).toThrow(
      /^spec must implement Standard JSON Schema.*this schema of old does not$/,
    );
  });

  it("is one of ArkType with a default, which its JSON schema does not say", () => {
    expect(() => resourceOf({ spec: type({ s: "string = 'a'" }) })).toThrow(
      /spec\.s: it has a default that arktype does not write/,
    );
  });
});

describe("a resource of ArkType", () => {
  it("has a structural schema", () => {
    const spec = type({ it: "string>0|number.integer", "other?": "boolean" });
    expect(fieldOf(spec)).toEqual({ "x-kubernetes-int-or-string": true, minLength: 1 });
  });
});

describe("the manifest of a resource", () => {
  const spec = z.object({
    schedule: z.string(),
    count: z.int().optional(),
    at: z.string().meta({ format: "date-time" }).optional(),
    ports: z.array(z.object({ name: z.string(), port: z.int() })).default([]),
  });

  it("has its names, its rules, its columns and its status", () => {
    const resource = resourceOf({
      spec,
      status: z.object({ active: z.array(z.string()) }),
      rules: [{ rule: "self.spec.schedule.size() < 100", message: "schedule is too long" }],
      listKeys: { ".spec.ports": ["name"] },
      columns: [
        { name: "Schedule", path: ".spec.schedule" },
        { name: "Count", path: ".spec.count", description: "How many", priority: 1 },
        { name: "At", path: ".spec.at" },
        { name: "Age", path: ".metadata.creationTimestamp" },
        { name: "First", path: ".status.active[0]" },
        { name: "Lost", path: ".spec.lost", type: "boolean" },
      ],
      shortNames: ["ct"],
      categories: ["all"],
      description: "A task on a schedule",
    });
    expect(resource.crd).toEqual({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "crontasks.batch.example.org" },
      spec: {
        group: "batch.example.org",
        scope: "Namespaced",
        names: {
          kind: "CronTask",
          listKind: "CronTaskList",
          plural: "crontasks",
          singular: "crontask",
          shortNames: ["ct"],
          categories: ["all"],
        },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: [
              { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
              {
                name: "Count",
                type: "integer",
                jsonPath: ".spec.count",
                description: "How many",
                priority: 1,
              },
              { name: "At", type: "date", jsonPath: ".spec.at" },
              { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
              { name: "First", type: "string", jsonPath: ".status.active[0]" },
              { name: "Lost", type: "boolean", jsonPath: ".spec.lost" },
            ],
            schema: {
              openAPIV3Schema: {
                type: "object",
                description: "A task on a schedule",
                required: ["spec"],
                "x-kubernetes-validations": [
                  { rule: "self.spec.schedule.size() < 100", message: "schedule is too long" },
                ],
                properties: {
                  spec: {
                    type: "object",
                    required: ["schedule"],
                    properties: {
                      schedule: { type: "string" },
                      count: integer,
                      at: { type: "string", format: "date-time" },
                      ports: {
                        type: "array",
                        default: [],
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        items: {
                          type: "object",
                          required: ["name", "port"],
                          properties: { name: { type: "string" }, port: integer },
                        },
                      },
                    },
                  },
                  status: {
                    type: "object",
                    required: ["active"],
                    properties: { active: { type: "array", items: { type: "string" } } },
                  },
                },
              },
            },
          },
        ],
      },
    });
    expect(fromCrd(resource.crd as object)).toEqual(resource);
  });

  it.each<[options: Partial<CustomResourceOptions>, message: RegExp]>([
    [
      { listKeys: { ".spec.lost": ["name"] } },
      /^listKeys must name lists of objects, got ".spec.lost"$/,
    ],
    [{ listKeys: { ".spec.schedule": ["name"] } }, /^listKeys must name lists of objects/],
    [
      { listKeys: { ".spec.ports": ["lost"] } },
      /^listKeys of \.spec\.ports must name fields that are required or have a default, got "lost"$/,
    ],
    [
      { columns: [{ name: "A", path: "spec" }] },
      /^columns\[0\]\.path must be a path such as "\.spec\.schedule", got "spec"$/,
    ],
    [{ columns: [{ name: "", path: ".spec" }] }, /^columns\[0\]\.name must/],
    [{ rules: [{ rule: "" }] }, /^rules\[0\]\.rule must/],
    [
      { rules: [{ rule: "true", massage: "no" } as never] },
      /^rules\[0\]\.massage is not an option of customResource; did you mean rules\[0\]\.message\?$/,
    ],
    [{ shortNames: "ct" as never }, /^shortNames must be an array/],
  ])("refuses %j", (options, message) => {
    expect(() => resourceOf({ spec, ...options })).toThrow(message);
  });

  it("has a manifest in its type", () => {
    const options = { kind: "Task", plural: "tasks" };
    const task = customResource({ apiVersion: "example.org/v1", ...options, spec: z.object({}) });
    const versions = { v1: { spec: z.object({}) } };
    const tasks = customResource({ group: "example.org", ...options, versions, storage: "v1" });
    const manifests: readonly object[] = [task.crd, tasks.crd];
    for (const manifest of manifests)
      expect(manifest).toMatchObject({ kind: "CustomResourceDefinition" });
  });

  it("needs a spec", () => {
    expect(() => resourceOf({ columns: [] })).toThrow(
      /^columns needs a spec: without one the resource has no manifest$/,
    );
    expect(resourceOf({}).crd).toBeUndefined();
  });
});

describe("FakeApi with a resource of zod", () => {
  it("judges random values of random schemas as zod does, but for nulls that it removes", async () => {
    await fc.assert(
      fc.asyncProperty(
        samples.chain((sample) =>
          fc.tuple(
            fc.constant(sample),
            fc.array(fc.oneof(sample.fitting, strangers), { maxLength: 10 }),
          ),
        ),
        async ([{ schema }, values]) => {
          const resource = resourceOf({ spec: z.object({ it: schema.optional() }) });
          const { client } = new FakeApi({ resources: [resource], clock: new FakeClock() });
          for (const value of values) {
            const object = {
              metadata: { generateName: "a-", namespace: "default" },
              spec: { it: value },
            };
            const isAccepted = await client.create(resource, object).then(
              () => true,
              (error: unknown) => {
                expect(isApiError(error, "Invalid")).toBe(true);
                return false;
              },
            );
            if (JSON.stringify(value).includes("null")) continue;
            expect(isAccepted).toBe(schema.safeParse(value).success);
          }
        },
      ),
    );
  });
});

it("refuses a fraction as multipleOf, which a server rounds", () => {
  const step = { type: "number", multipleOf: 0.5 };
  const spec = { type: "object", properties: { step } };
  const names = { apiVersion: "example.org/v1", kind: "A", plural: "as" };
  expect(() => customResource({ ...names, spec })).toThrow("a server rounds its multipleOf 0.5");
});
