import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { fromCrd } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { afterEach, expect, it, vi } from "vitest";
import { crdOf } from "../../../../test/crd.ts";
import { crdFields as fields } from "../../conformance/crd-fields.ts";
import { ApiServer } from "../../src/server/api-server.ts";
import { servedResource } from "../../src/server/resource/served-resource.ts";
import { ApiState } from "../../src/server/state/api-state.ts";

afterEach(() => void vi.restoreAllMocks());

const TEXT = { type: "string" };

/** A resource with a field in its spec. */
function withField(field: object, more: object = {}) {
  const spec = { type: "object", properties: { field } };
  return withSpec(spec, more);
}

function withSpec(spec: object, more: object = {}) {
  return fromCrd(crdOf({ kind: "Thing", properties: { spec }, ...more }));
}

function make(resource: ReturnType<typeof withField>) {
  return new FakeApi({ clock: new FakeClock(), resources: [resource] });
}

// The outcome of each field of a schema on a server.
const FIELDS: Readonly<Record<string, ["refused" | "known", object]>> = {
  id: ["refused", { id: "a" }],
  $schema: ["refused", { $schema: "http://json-schema.org/draft-04/schema#" }],
  $ref: ["refused", { $ref: "#/a" }],
  description: ["known", { description: "a" }],
  type: ["known", {}],
  format: ["known", { format: "uuid" }],
  title: ["known", { title: "a" }],
  default: ["known", { default: "a" }],
  maximum: ["known", { type: "integer", maximum: 1 }],
  exclusiveMaximum: ["known", { type: "integer", maximum: 1, exclusiveMaximum: true }],
  minimum: ["known", { type: "integer", minimum: 1 }],
  exclusiveMinimum: ["known", { type: "integer", minimum: 1, exclusiveMinimum: true }],
  maxLength: ["known", { maxLength: 1 }],
  minLength: ["known", { minLength: 1 }],
  pattern: ["known", { pattern: "^(?i)a$" }],
  maxItems: ["known", { type: "array", items: TEXT, maxItems: 1 }],
  minItems: ["known", { type: "array", items: TEXT, minItems: 1 }],
  uniqueItems: ["refused", { type: "array", items: TEXT, uniqueItems: true }],
  multipleOf: ["known", { type: "integer", multipleOf: 2 }],
  enum: ["known", { enum: ["a"] }],
  maxProperties: ["known", { type: "object", maxProperties: 1 }],
  minProperties: ["known", { type: "object", minProperties: 1 }],
  required: ["known", { type: "object", properties: { a: TEXT }, required: ["a"] }],
  items: ["known", { type: "array", items: TEXT }],
  allOf: ["known", { allOf: [{ minLength: 1 }] }],
  oneOf: ["known", { oneOf: [{ minLength: 1 }] }],
  anyOf: ["known", { anyOf: [{ minLength: 1 }] }],
  not: ["known", { not: { minLength: 1 } }],
  properties: ["known", { type: "object", properties: { a: TEXT } }],
  additionalProperties: ["known", { type: "object", additionalProperties: TEXT }],
  patternProperties: ["refused", { type: "object", patternProperties: { a: TEXT } }],
  dependencies: ["refused", { type: "object", dependencies: { a: ["b"] } }],
  additionalItems: ["refused", { type: "array", additionalItems: true }],
  definitions: ["refused", { definitions: { a: TEXT } }],
  externalDocs: ["known", { externalDocs: { url: "a" } }],
  example: ["known", { example: "a" }],
  nullable: ["known", { nullable: true }],
  "x-kubernetes-preserve-unknown-fields": [
    "known",
    { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  ],
  "x-kubernetes-embedded-resource": [
    "known",
    { type: "object", "x-kubernetes-embedded-resource": true, properties: { a: TEXT } },
  ],
  "x-kubernetes-int-or-string": ["known", { "x-kubernetes-int-or-string": true }],
  "x-kubernetes-list-map-keys": [
    "known",
    {
      type: "array",
      items: { type: "object", required: ["a"], properties: { a: TEXT } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
    },
  ],
  "x-kubernetes-list-type": [
    "known",
    { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
  ],
  "x-kubernetes-map-type": ["known", { type: "object", "x-kubernetes-map-type": "atomic" }],
  "x-kubernetes-validations": ["known", { "x-kubernetes-validations": [{ rule: "self != 'a'" }] }],
};

it.each(Object.entries(FIELDS))("the field %s of a schema is %j", (field, [outcome, schema]) => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const resource = withField({ ...TEXT, ...schema });
  if (outcome === "known") make(resource);
  else
    expect(() => make(resource)).toThrow(
      `options.resources[0]: a server refuses the CustomResourceDefinition of Thing: spec.field.${field} `,
    );
  expect(warn.mock.calls).toEqual([]);
});

it("has an outcome for each field of a schema that a server knows", () => {
  expect(Object.keys(FIELDS).sort()).toEqual(fields.JSONSchemaProps.split(" ").sort());
});

const RULE = {
  ...{ rule: "self != oldSelf.orValue('')", message: "a", messageExpression: "'a'" },
  ...{ reason: "FieldValueInvalid", fieldPath: "", optionalOldSelf: true },
};
const DOCS = { url: "a", description: "b" };

/** A manifest with every field that a server knows. */
const WHOLE = {
  group: "example.org",
  scope: "Namespaced",
  preserveUnknownFields: false,
  names: {
    ...{ kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
    ...{ shortNames: ["th"], categories: ["all"] },
  },
  conversion: {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: {
        ...{ url: "https://a.b/c", caBundle: "YQ==" },
        service: { name: "a", namespace: "b", path: "/c", port: 443 },
      },
    },
  },
  versions: [
    {
      ...{ name: "v1", served: true, storage: true, deprecated: true, deprecationWarning: "old" },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                a: {
                  ...{ type: "string", maxLength: 9, externalDocs: DOCS },
                  "x-kubernetes-validations": [RULE],
                },
                n: { type: "integer" },
              },
            },
          },
        },
      },
      selectableFields: [{ jsonPath: ".spec.a" }],
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.n",
          statusReplicasPath: ".status.n",
          labelSelectorPath: ".status.s",
        },
      },
      additionalPrinterColumns: [
        {
          ...{ name: "A", type: "string", format: "byte", description: "a", priority: 1 },
          jsonPath: ".spec.a",
        },
      ],
    },
  ],
};

const SCHEMA = "spec.versions[0].schema.openAPIV3Schema.properties";

/** The path of an object of each type in that manifest. */
const PLACES: Readonly<Record<Exclude<keyof typeof fields, "JSONSchemaProps">, string>> = {
  CustomResourceDefinitionSpec: "spec",
  CustomResourceDefinitionNames: "spec.names",
  CustomResourceConversion: "spec.conversion",
  WebhookConversion: "spec.conversion.webhook",
  WebhookClientConfig: "spec.conversion.webhook.clientConfig",
  ServiceReference: "spec.conversion.webhook.clientConfig.service",
  CustomResourceDefinitionVersion: "spec.versions[0]",
  CustomResourceValidation: "spec.versions[0].schema",
  SelectableField: "spec.versions[0].selectableFields[0]",
  CustomResourceSubresources: "spec.versions[0].subresources",
  CustomResourceSubresourceScale: "spec.versions[0].subresources.scale",
  CustomResourceColumnDefinition: "spec.versions[0].additionalPrinterColumns[0]",
  ValidationRule: `${SCHEMA}.spec.properties.a.x-kubernetes-validations[0]`,
  ExternalDocumentation: `${SCHEMA}.spec.properties.a.externalDocs`,
};

type Json = { [name: string]: Json };

/** The object at a path of a manifest. */
function at(crd: object, path: string): Json {
  const names = path.split(/[.[\]]+/).filter(Boolean);
  return names.reduce((value, name) => value[name] as Json, crd as Json);
}

function warningsOf(change: (crd: object) => void): string[] {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: structuredClone(WHOLE),
  };
  change(crd);
  make(fromCrd(crd));
  return warn.mock.calls.map(([text]) => String(text));
}

it.each(Object.entries(PLACES))(
  "knows each field of %s, at %s, and reports others",
  (type, path) => {
    const known = fields[type as keyof typeof fields].split(" ").sort();
    expect(Object.keys(at({ spec: WHOLE }, path)).sort()).toEqual(known);
    const webhook = expect.stringMatching(/^FakeApi: conversion by a webhook is ignored/);
    expect(warningsOf(() => undefined)).toEqual([webhook]);
    const shown = path.replace(SCHEMA, "").replace(/^\./, "").replace(".properties", "");
    expect(warningsOf((crd) => void Object.assign(at(crd, path), { surplus: {} }))).toContain(
      `FakeApi: ${shown}.surplus is no field of a manifest, and is ignored, in the CustomResourceDefinition of Thing`,
    );
  },
);

it.each([
  ["spec.versions[0]", "deprecated", "yes", "spec.versions[0].deprecated must be a boolean"],
  ["spec.names", "shortNames", "th", "spec.names.shortNames must be an array"],
  ["spec.versions[0].additionalPrinterColumns[0]", "priority", 1.5, "priority must be an integer"],
  ["spec.versions[0]", "subresources", [], "spec.versions[0].subresources must be an object"],
])("refuses a field of another type, at %s: %s is %j", (path, field, value, problem) => {
  expect(() => warningsOf((crd) => void Object.assign(at(crd, path), { [field]: value }))).toThrow(
    problem,
  );
});

it("reports a field that no schema has, and a conversion by a webhook, when a FakeApi is made", () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  make(withField({ ...TEXT, const: "a" }, { conversion: { strategy: "Webhook", webhook: {} } }));
  expect(warn.mock.calls.map(([text]) => text)).toEqual([
    "FakeApi: conversion by a webhook is ignored: objects keep their fields in every version, in the CustomResourceDefinition of Thing",
    "FakeApi: spec.field.const is no field of a schema, and is ignored, in the CustomResourceDefinition of Thing",
  ]);
});

it.each([
  [{ pattern: "(?=a)" }, "spec.field.pattern: invalid or unsupported Perl syntax"],
  [{ allOf: [{ pattern: "(a" }] }, "spec.field.allOf[0].pattern: missing closing )"],
])("refuses %j with its path", (schema, problem) =>
  expect(() => make(withField({ ...TEXT, ...schema }))).toThrow(problem),
);

const SPEC = {
  type: "object",
  properties: {
    a: { type: "string", maxLength: 9 },
    n: { type: "integer" },
    b: { type: "boolean" },
    l: { type: "array", maxItems: 5, items: { type: "string", maxLength: 9 } },
    m: { type: "object", maxProperties: 5, additionalProperties: { type: "integer" } },
    o: { type: "object", properties: { p: { type: "string" } } },
    e: { "x-kubernetes-int-or-string": true },
    t: { type: "string", format: "date-time" },
    any: { "x-kubernetes-preserve-unknown-fields": true },
    "a-b": { type: "string" },
  },
};

// Each was tried on a server.
it.each([
  "self ==",
  "",
  "self.zz == 'x'",
  "has(self.zz)",
  "self.a == 1",
  "self.a",
  "self.n == 1.0",
  "self.l.all(x, x == 1)",
  "self.m['a'] == 'x'",
  "self.o.zz == 'x'",
  "self.any == 1",
  "self.a.nothing()",
  "nothing == 1",
  "self.a == null",
  "self.t == 'x'",
  "self.a.matches('(')",
  "oldSelf.zz == 1",
])("refuses the rule %s, as a server does", (rule) => {
  const spec = { ...SPEC, "x-kubernetes-validations": [{ rule }] };
  expect(() => make(withSpec(spec))).toThrow(
    `a server refuses the CustomResourceDefinition of Thing: the rule ${JSON.stringify(rule)} of spec: `,
  );
});

it.each([
  "self.a == 'x'",
  "has(self.o) ? has(self.o.p) : true",
  "self.n < 1.0",
  "self.l.all(x, x == 'a') && self.l == ['a'] && 'a' in self.l",
  "self.m == {} || self.m['a'] == 1 || self.m.all(k, self.m[k] > 1) || self.m.all(k, v, v > 1)",
  "self.e == 1 || self.e == 'a'",
  "self.t > timestamp('2026-01-01T00:00:00Z')",
  "dyn(self.a) == null",
  "self.a__dash__b == 'x'",
  "self.?a.orValue('') == '' && self.?o.?p.orValue('x') == 'x'",
  "self.o == oldSelf.o && self.o in [self.o]",
  "[has(self.a), has(self.n)].filter(x, x).size() == 1",
  "self.l[?0].orValue('x') == 'x'",
])("accepts the rule %s, as a server does", (rule) => {
  make(withSpec({ ...SPEC, "x-kubernetes-validations": [{ rule }] }));
});

it("answers 500 with the path of what it cannot evaluate, and throws nothing", async () => {
  const clock = new FakeClock();
  // Not checked, as in a FakeApi.
  const served = [servedResource(withField({ ...TEXT, pattern: "(" }))];
  const [state, random] = [new ApiState(), seededRandom(1)];
  const server = new ApiServer({ state, clock, random, served, keptRequests: 1 });
  const object = { apiVersion: "example.org/v1", kind: "Thing", metadata: { name: "a" } };
  const { status, body } = await server.send(
    {
      method: "POST",
      path: "/apis/example.org/v1/namespaces/default/things",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...object, spec: { field: "x" } }),
    },
    new AbortController().signal,
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  expect(status).toBe(500);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    message: expect.stringMatching(/^Internal error occurred: spec\.field: missing closing \)/),
    reason: "InternalError",
  });
});
