// CustomResourceDefinitions that a server accepts or refuses.

type Fields = Readonly<Record<string, unknown>>;

/** A field of the spec that differs, or other parts of the manifest. */
interface Parts {
  readonly field?: Fields;

  /** More fields of the schema of the object. */
  readonly root?: Fields;

  /** More fields of the version. */
  readonly version?: Fields;

  /** More fields of `spec`. */
  readonly more?: Fields;

  /** More fields of `spec.names`. */
  readonly names?: Fields;

  readonly annotations?: Fields;
}

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };
const VERSION = {
  ...{ name: "v1", served: true, storage: true },
  schema: { openAPIV3Schema: { type: "object" } },
};
const LIST = { type: "array", items: TEXT };
const OPEN = { "x-kubernetes-preserve-unknown-fields": true };
const EMBEDDED = { type: "object", "x-kubernetes-embedded-resource": true };
const EITHER = [{ type: "integer" }, { type: "string" }];
const FREE = { "x-kubernetes-int-or-string": true };
const SET = { type: "array", "x-kubernetes-list-type": "set" };

function keyed(keys: unknown, items: Fields, more: Fields = {}): Parts {
  const given = keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys };
  return { field: { type: "array", items, "x-kubernetes-list-type": "map", ...given, ...more } };
}

function item(a: Fields, more: Fields = { required: ["a"] }): Fields {
  return { type: "object", properties: { a }, ...more };
}

function member(fields: Fields): Parts {
  return { field: { type: "object", properties: { a: TEXT }, allOf: [fields] } };
}

function rooted(metadata: Fields): Parts {
  return { root: { properties: { metadata, spec: { type: "object" } } } };
}

function selected(jsonPath: string, field: Fields = TEXT): Parts {
  return { field, version: { selectableFields: [{ jsonPath }] } };
}

function scaled(scale: Fields): Parts {
  const paths = { specReplicasPath: ".spec.field", statusReplicasPath: ".status.n" };
  return { field: WHOLE, version: { subresources: { status: {}, scale: { ...paths, ...scale } } } };
}

function column(fields: Fields): Parts {
  const given = { name: "A", type: "string", jsonPath: ".spec.field", ...fields };
  return { version: { additionalPrinterColumns: [given] } };
}

const REFUSED: Readonly<Record<string, Parts>> = {
  "no type": { field: {} },
  "an unknown type": { field: { type: "text" } },
  "a list without items": { field: { type: "array" } },
  "a list of schemas as items": { field: { type: "array", items: [TEXT] } },
  "properties and additionalProperties": {
    field: { type: "object", properties: { a: TEXT }, additionalProperties: TEXT },
  },
  "preserve-unknown-fields false": {
    field: { type: "object", "x-kubernetes-preserve-unknown-fields": false },
  },
  "an embedded text": { field: { ...TEXT, ...EMBEDDED, type: "string" } },
  "an embedded object without properties": { field: EMBEDDED },
  "an embedded object without a type": {
    field: { ...OPEN, "x-kubernetes-embedded-resource": true },
  },
  "embedded metadata that is a text": {
    field: { ...EMBEDDED, properties: { metadata: TEXT, spec: { type: "object" } } },
  },
  "an embedded version that is a number": {
    field: { ...EMBEDDED, properties: { apiVersion: WHOLE } },
  },
  "int-or-string with half of its types": { field: { ...FREE, anyOf: [WHOLE] } },
  "int-or-string with oneOf": { field: { ...FREE, oneOf: EITHER } },
  "a type in allOf": member({ properties: { a: TEXT } }),
  "a type in anyOf of allOf": { field: { ...TEXT, allOf: [{ anyOf: [TEXT] }] } },
  "a type in not": {
    field: { type: "object", not: { properties: { a: TEXT } }, properties: { a: TEXT } },
  },
  "a description in allOf": member({ description: "x" }),
  "a title in allOf": member({ title: "x" }),
  "a default in allOf": member({ default: {} }),
  "nullable in allOf": member({ nullable: true }),
  "additionalProperties in allOf": {
    field: {
      type: "object",
      additionalProperties: TEXT,
      allOf: [{ additionalProperties: { minLength: 1 } }],
    },
  },
  "a type of lists in allOf": { field: { ...LIST, allOf: [{ "x-kubernetes-list-type": "set" }] } },
  "a type of maps in allOf": member({ "x-kubernetes-map-type": "atomic" }),
  "rules in allOf": member({ "x-kubernetes-validations": [{ rule: "true" }] }),
  "preserve-unknown-fields in allOf": member(OPEN),
  "embedded in allOf": member({ "x-kubernetes-embedded-resource": true }),
  "int-or-string in allOf": member(FREE),
  "an unknown type of lists": { field: { ...LIST, "x-kubernetes-list-type": "bag" } },
  "a type of lists on a text": { field: { ...TEXT, "x-kubernetes-list-type": "set" } },
  "a set of objects": { field: { ...SET, items: item(TEXT) } },
  "a set of nulls": { field: { ...SET, items: { ...TEXT, nullable: true } } },
  "a set of lists that are sets": { field: { ...SET, items: { ...SET, items: TEXT } } },
  "a map without keys": keyed(undefined, item(TEXT)),
  "a map with an empty list of keys": keyed([], item(TEXT)),
  "a map with an unknown key": keyed(["b"], item(TEXT)),
  "a map with an optional key": keyed(["a"], item(TEXT, {})),
  "a map with a key twice": keyed(["a", "a"], item(TEXT)),
  "a map with a key that is an object": keyed(["a"], item({ type: "object" })),
  "a map with a key that is nullable": keyed(["a"], item({ ...TEXT, nullable: true })),
  "a map of texts": keyed(["a"], TEXT),
  "a map with nullable items": keyed(["a"], item(TEXT, { required: ["a"], nullable: true })),
  "keys of a list that is no map": keyed(["a"], item(TEXT), { "x-kubernetes-list-type": "atomic" }),
  "an unknown type of maps": { field: { ...item(TEXT), "x-kubernetes-map-type": "x" } },
  "a type of maps on a list": { field: { ...LIST, "x-kubernetes-map-type": "atomic" } },
  "a default of another type": { field: { ...WHOLE, default: "x" } },
  "a default below the minimum": { field: { ...WHOLE, minimum: 5, default: 1 } },
  "a default against the pattern": { field: { ...TEXT, pattern: "^a$", default: "b" } },
  "a default against the enum": { field: { ...TEXT, enum: ["a"], default: "b" } },
  "a default against the format": { field: { ...TEXT, format: "uuid", default: "b" } },
  "a default against a rule": {
    field: {
      ...TEXT,
      maxLength: 3,
      "x-kubernetes-validations": [{ rule: "self=='a'" }],
      default: "b",
    },
  },
  "a default with an unknown field": { field: { ...item(TEXT, {}), default: { b: 1 } } },
  "a default with an unknown field far below": {
    field: { type: "object", properties: { o: item(TEXT, {}) }, default: { o: { c: 1 } } },
  },
  "a default without a required field": { field: { ...item(TEXT), default: {} } },
  "a default that another one would fill": {
    field: { ...item({ ...TEXT, default: "x" }), default: {} },
  },
  "a wrong default in an item": {
    field: { type: "array", items: item({ ...WHOLE, default: "x" }) },
  },
  "a wrong default in a map": {
    field: { type: "object", additionalProperties: WHOLE, default: { a: "x" } },
  },
  "a default that is too large for its format": {
    field: { ...WHOLE, format: "int32", default: 3e9 },
  },
  "a default of an embedded object without a kind": {
    field: { ...EMBEDDED, ...OPEN, default: { a: 1 } },
  },
  "a default of the metadata": rooted({ type: "object", default: {} }),
  "a default in the metadata": rooted({
    type: "object",
    properties: { name: { ...TEXT, default: "x" } },
  }),
  "labels in the metadata": rooted({ type: "object", properties: { labels: { type: "object" } } }),
  "metadata that is a text": rooted(TEXT),
  "a version that is a number": { root: { properties: { apiVersion: WHOLE } } },
  "an object that is a text": { root: { type: "string", properties: undefined } },
  "an object that is nullable": { root: { nullable: true } },
  "an object that is a map": { root: { properties: undefined, additionalProperties: TEXT } },
  "a fraction as maxItems": { field: { ...LIST, maxItems: 1.5 } },
  "a text as maxLength": { field: { ...TEXT, maxLength: "5" } },
  "a text as required": { field: { ...item(TEXT, {}), required: "a" } },
  "a text as nullable": { field: { ...TEXT, nullable: "yes" } },
  "a number as exclusiveMinimum": { field: { ...WHOLE, exclusiveMinimum: 1 } },
  "a kind for a list of its own name": { names: { listKind: "Thing" } },
  "a short name with capitals": { names: { shortNames: ["TH"] } },
  "a category with a space": { names: { categories: ["a b"] } },
  "a singular with capitals": { names: { singular: "Thing" } },
  "a plural that is not that of its name": { names: { plural: "thingies" } },
  "a group without a dot": { more: { group: "example" } },
  "a group of Kubernetes without its approval": { more: { group: "example.k8s.io" } },
  "a group of Kubernetes with an approval that is no address": {
    more: { group: "example.kubernetes.io" },
    annotations: { "api-approved.kubernetes.io": "yes" },
  },
  "one name of a version twice": { more: { versions: [VERSION, { ...VERSION, storage: false }] } },
  "no stored version": { version: { storage: false } },
  preserveUnknownFields: { more: { preserveUnknownFields: true } },
  "a webhook that nothing describes": { more: { conversion: { strategy: "Webhook" } } },
  "an unknown conversion": { more: { conversion: { strategy: "Some" } } },
  "a webhook without its strategy": {
    more: {
      conversion: {
        strategy: "None",
        webhook: { clientConfig: { url: "https://a.b/c" }, conversionReviewVersions: ["v1"] },
      },
    },
  },
  "a selectable field that is missing": selected(".spec.zz"),
  "a selectable field without a dot": selected("spec.field"),
  "a selectable list": selected(".spec.field", LIST),
  "a selectable object": selected(".spec.field", item(TEXT)),
  "a selectable number": selected(".spec.field", { type: "number" }),
  "a selectable field of the metadata": selected(".metadata.name"),
  "a selectable item": selected(".spec.field[0]", LIST),
  "a selectable field twice": {
    version: { selectableFields: [{ jsonPath: ".spec.field" }, { jsonPath: ".spec.field" }] },
  },
  "a scale without replicas in the status": scaled({ statusReplicasPath: undefined }),
  "a scale whose replicas are in the status": scaled({ specReplicasPath: ".status.field" }),
  "a scale whose selector is in the metadata": scaled({ labelSelectorPath: ".metadata.s" }),
  "a scale with a path without a dot": scaled({ specReplicasPath: "spec.field" }),
  "a column of an unknown type": column({ type: "text" }),
  "a column with a path without a dot": column({ jsonPath: "spec.field" }),
  "a column without a name": column({ name: undefined }),
  "a column of an unknown format": column({ format: "zz" }),
  "a warning about a version that is not deprecated": { version: { deprecationWarning: "x" } },
  "a long warning": { version: { deprecated: true, deprecationWarning: "x".repeat(257) } },
  "an empty warning": { version: { deprecated: true, deprecationWarning: "" } },
  "no schema": { version: { schema: undefined } },
  "an empty schema": { version: { schema: { openAPIV3Schema: {} } } },
};

const ACCEPTED: Readonly<Record<string, Parts>> = {
  "an open field without a type": { field: OPEN },
  "an open text": { field: { ...TEXT, ...OPEN } },
  "a map of anything": { field: { type: "object", additionalProperties: true } },
  "a map beside no properties": {
    field: { type: "object", properties: {}, additionalProperties: TEXT },
  },
  "a map of anything beside properties": {
    field: { type: "object", properties: { a: TEXT }, additionalProperties: true },
  },
  "a closed object": { field: { type: "object", additionalProperties: false } },
  "a map of open fields": { field: { type: "object", additionalProperties: OPEN } },
  "an open embedded object": { field: { ...EMBEDDED, ...OPEN } },
  "a text with the types of int-or-string": { field: { ...TEXT, anyOf: EITHER } },
  "int-or-string with its types": { field: { ...FREE, anyOf: EITHER } },
  "int-or-string with its types in allOf": {
    field: { ...FREE, allOf: [{ anyOf: EITHER }, { minLength: 2 }] },
  },
  "int-or-string with a pattern": {
    field: { ...FREE, anyOf: EITHER, pattern: "^a", maxLength: 3 },
  },
  "properties with names of keywords": {
    field: {
      type: "object",
      properties: { not: TEXT, "allOf[0]": TEXT, items: TEXT, description: TEXT },
    },
  },
  "formats and examples in allOf": member({
    format: "uuid",
    example: 1,
    externalDocs: { url: "a" },
  }),
  "a field in allOf that is no property": member({ properties: { b: { minLength: 1 } } }),
  "a set of lists": { field: { ...SET, items: LIST } },
  "a set of atomic objects": {
    field: { ...SET, items: { ...item(TEXT), "x-kubernetes-map-type": "atomic" } },
  },
  "a key with a default": keyed(["a"], item({ ...TEXT, default: "x" }, {})),
  "a null as default": { field: { ...TEXT, default: null } },
  "a default with an item twice": {
    field: { ...LIST, "x-kubernetes-list-type": "set", default: ["a", "a"] },
  },
  "a default of an open object": { field: { type: "object", ...OPEN, default: { z: 1 } } },
  "a default of an embedded object": {
    field: { ...EMBEDDED, ...OPEN, default: { kind: "A", apiVersion: "v1" } },
  },
  "an enum with a value of another type": { field: { ...TEXT, enum: ["a", 1] } },
  "a minimum above the maximum": { field: { ...WHOLE, minimum: 5, maximum: 1 } },
  "a limit of texts on an integer": { field: { ...WHOLE, maxLength: 5 } },
  "a required field that is no property": { field: { ...item(TEXT, {}), required: ["b"] } },
  "an unknown format": { field: { ...TEXT, format: "zz" } },
  "nulls for fields of a schema": {
    field: { ...TEXT, description: null, items: null, required: null },
  },
  "keywords that are not supported and empty": {
    field: { type: "object", definitions: {}, patternProperties: {}, $schema: "", id: "" },
  },
  "a limit of the name": rooted({
    type: "object",
    properties: { name: { ...TEXT, maxLength: 9 } },
  }),
  "kind and version in the schema": { root: { properties: { apiVersion: TEXT, kind: TEXT } } },
  "an open object": { root: OPEN },
  "a selectable text": selected(".spec.field"),
  "a scale": scaled({ labelSelectorPath: ".status.s" }),
  "a scale of an item": scaled({ specReplicasPath: ".spec.field[0]" }),
  "a column": column({ format: "date-time", type: "date" }),
  "a kind with a dash": { names: { kind: "Foo-bar" } },
  "a kind of small letters": { names: { kind: "postgresql", listKind: "postgresqlList" } },
  "a version that is a word": { version: { name: "stable" } },
  "a version of a date": { version: { name: "v1beta20210101preview" } },
};

const RULED: Fields = {
  type: "object",
  properties: {
    a: { ...TEXT, maxLength: 9 },
    n: WHOLE,
    f: { type: "boolean" },
    e: FREE,
    l: { ...LIST, maxItems: 5, items: { ...TEXT, maxLength: 9 } },
    li: { type: "array", maxItems: 5, items: WHOLE },
    m: { type: "object", maxProperties: 5, additionalProperties: { ...TEXT, maxLength: 9 } },
    o: item({ ...TEXT, maxLength: 9 }, {}),
    t: { ...TEXT, format: "date-time" },
    d: { ...TEXT, format: "duration" },
    "x-y": { ...TEXT, maxLength: 9 },
  },
};

const REFUSED_RULES: readonly (string | Fields)[] = [
  "cel.bind(x, self.a, x == 'x')",
  "cel.bind(x, self.a, cel.bind(y, self.n, y > 1 && x == 'x'))",
  "(self.f ? 1 : 'x') == 1",
  "(self.f ? self.l : self.li).size() > 0",
  "self.n > 1 ? true : 'x'",
  "self.a + 1 == 'x1'",
  "self.n in [1, 'a']",
  "[1, 'a'].size() == 2",
  "[self.a, self.n].size() == 2",
  "[self.l, self.li].size() == 2",
  "[self.a, null].size() == 2",
  "{'a': 1, 'b': 'x'}.size() == 2",
  "{1: 'a', 'b': 'c'}.size() == 2",
  "self.a == 'a' || 1",
  "self.a == 'a' && self.n",
  "self.a.startsWith('a', 'b')",
  "isQuantity(self.a) && quantity(self.a).sign() > 0",
  "has(self)",
  "has(self.l[0])",
  "has(self.m['a'])",
  "self.l == null",
  "self.m == null",
  { rule: "self.a == 'x'", messageExpression: "'n is ' + self.n" },
  { rule: "self.a == 'x'", messageExpression: "self.n" },
  { rule: "self.a == 'x'", message: "two\nlines" },
  { rule: "self.a == 'x'", message: "  " },
  { rule: "self.a == 'x'\n&& self.f" },
  { rule: "self.a == 'x'", fieldPath: "a" },
  { rule: "self.a == 'x'", fieldPath: "." },
  { rule: "self.a == 'x'", fieldPath: ".zz" },
  { rule: "self.a == 'x'", fieldPath: ".l[0]" },
  { rule: "self.a == 'x'", fieldPath: ".a.b" },
  { rule: "self.a == 'x'", reason: "Nope" },
  { rule: "self.a == 'x'", optionalOldSelf: true },
];

const ACCEPTED_RULES: readonly (string | Fields)[] = [
  "self.o == null",
  "self.t == null || self.t != null",
  "self.d == null",
  "null == self.o",
  "(self.f ? null : self.o) == null",
  "(self.f ? self.e : 1) == 1",
  "(self.f ? [] : self.l).size() == 0",
  "(self.f ? {} : self.m).size() == 0",
  "(self.f ? dyn(1) : 'x') == 1",
  "(self.f ? optional.none() : optional.of(self.a)).hasValue()",
  "[[], ['a']].size() == 2 && [{}, {'a': 1}].size() == 2",
  "self.e in [1, 2] || self.e in ['a', self.a]",
  "duration('1h') + self.t < timestamp('2030-01-01T00:00:00Z')",
  "[?self.?a].size() == 1 && {?'a': self.?a}.size() == 1",
  "(has(self.a) ? 1 : 0) + (has(self.o) ? 1 : 0) == 1",
  { rule: "self.a == 'x'", messageExpression: "'a is ' + self.a" },
  { rule: "self.a == 'x'", messageExpression: "" },
  { rule: "self.a == 'x'\n&& self.f", message: "m" },
  { rule: "self.a == 'x'", fieldPath: ".o.a" },
  { rule: "self.a == 'x'", fieldPath: ".m['k']" },
  { rule: "self.a == 'x'", fieldPath: "['x-y']" },
  { rule: "oldSelf.hasValue() && self.f", optionalOldSelf: true },
];

function ruled(rules: readonly (string | Fields)[]): Record<string, Parts> {
  const all = rules.map((one) => (typeof one === "string" ? { rule: one } : one));
  return Object.fromEntries(
    all.map((rule) => [
      `the rule ${JSON.stringify(rule)}`,
      { field: { ...RULED, "x-kubernetes-validations": [rule] } },
    ]),
  );
}

/** Whether a server accepts each definition, by what it has. */
export const definitions: readonly (readonly [name: string, isAccepted: boolean, crd: object])[] = [
  ...Object.entries({ ...REFUSED, ...ruled(REFUSED_RULES) }).map(
    ([name, parts]) => [name, false, definitionOf(parts)] as const,
  ),
  ...Object.entries({ ...ACCEPTED, ...ruled(ACCEPTED_RULES) }).map(
    ([name, parts]) => [name, true, definitionOf(parts)] as const,
  ),
];

function definitionOf({ field = TEXT, root, version, more, names, annotations }: Parts): object {
  const spec = { type: "object", properties: { field } };
  const openAPIV3Schema = { type: "object", properties: { spec }, ...root };
  const only = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...version };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${more?.["group"] ?? "definitions.example.org"}`, annotations },
    spec: {
      group: "definitions.example.org",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things", ...names },
      versions: [only],
      ...more,
    },
  };
}
