import { apply } from "../steps.ts";
import type { Act, Fields, Table } from "./table.ts";

const LONG = "x".repeat(64);
const OWNER = { apiVersion: "v1", kind: "Pod", name: "a", uid: "u" };

/** Metadata that a server refuses, changes or warns about, by what it is. */
const METADATA: Readonly<Record<string, Fields>> = {
  "a key with capitals in its prefix": { labels: { "A/b": "x" } },
  "a key with two slashes": { labels: { "a/b/c": "x" } },
  "a key without a name": { labels: { "a.b/": "x" } },
  "a key without a prefix": { labels: { "/b": "x" } },
  "an empty key": { labels: { "": "x" } },
  "a long key": { labels: { [LONG]: "x" } },
  "a key with a long prefix": { labels: { [`${"x".repeat(254)}/a`]: "x" } },
  "a long and wrong value": { labels: { a: `${LONG}!` } },
  "a value that is null": { labels: { a: null } },
  "an annotation with two slashes": { annotations: { "a/b/c": "" } },
  "an annotation with capitals in its prefix": { annotations: { "A/b": "" } },
  "an annotation that is null": { annotations: { a: null } },
  "a finalizer with two slashes": { finalizers: ["a/b/c"] },
  "an empty finalizer": { finalizers: [""] },
  "a finalizer without a name": { finalizers: ["a.b/"] },
  "both finalizers of deletions": { finalizers: ["orphan", "foregroundDeletion"] },
  "an owner without fields": { ownerReferences: [{}] },
  "two controllers": {
    ownerReferences: [
      { ...OWNER, controller: true },
      { ...OWNER, uid: "v", name: "b", controller: true },
    ],
  },
  "an owner of a version with two slashes": {
    ownerReferences: [{ ...OWNER, apiVersion: "a/b/c" }],
  },
  "an Event that owns": { ownerReferences: [{ ...OWNER, kind: "Event" }] },
  "an owner with an unknown field": { ownerReferences: [{ ...OWNER, more: 1 }] },
  "an owner that is there twice": { ownerReferences: [OWNER, OWNER] },
  "a prefix of a name that is short of letters": { name: "ok", generateName: "A_" },
};

/** Metadata that cannot be read. */
const UNREADABLE: Readonly<Record<string, Fields>> = {
  "a number for a label": { labels: { a: 1 } },
  "a list for labels": { labels: [] },
  "a boolean for an annotation": { annotations: { a: true } },
  "a number for a finalizer": { finalizers: [1] },
  "a null for a finalizer": { finalizers: [null] },
  "a text for finalizers": { finalizers: "x" },
  "a number for an owner": { ownerReferences: [1] },
  "an object for owners": { ownerReferences: {} },
  "a number for the version of an owner": { ownerReferences: [{ ...OWNER, apiVersion: 1 }] },
  "a number for a link": { selfLink: 1 },
  "a text for a generation": { generation: "x" },
  "a fraction for a generation": { generation: 1.5 },
  "a text for a time": { creationTimestamp: "x" },
  "a number for a version": { resourceVersion: 5 },
  "a text for managers": { managedFields: "x" },
};

const SPEC = {
  type: "object",
  properties: {
    one: { type: "array", maxItems: 1, items: { type: "string" } },
    entry: { type: "object", maxProperties: 1, additionalProperties: { type: "string" } },
    list: {
      type: "array",
      maxItems: 9,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["proto", "name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, proto: { type: "string", default: "TCP" } },
      },
    },
    set: {
      type: "array",
      "x-kubernetes-list-type": "set",
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: { a: { type: "string" }, b: { type: "integer" } },
      },
    },
    choice: { type: "string", minLength: 3, pattern: "^[a-z]+$", enum: ["aaa"] },
    whole: { type: "integer", format: "int32" },
    real: { type: "number", format: "double" },
    any: { type: "integer" },
    map: {
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "string" } } },
    },
  },
};

const STATUS = {
  type: "object",
  properties: {
    count: { type: "integer" },
    either: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
  },
};

/** The words about metadata, and about values of a wrong form. */
export const metadata: Table = {
  kind: "Label",
  spec: SPEC,
  status: STATUS,
  uncompared: [
    { path: "*.body.metadata.uid", reason: "uids are numbered in the order of the fields" },
    {
      path: "*.body.metadata.ownerReferences.*.uid",
      reason: "uids are numbered in the order of the fields",
    },
  ],
  cases: {
    ...cases("a new object has", METADATA, (value) => [["createObject", { metadata: value }]]),
    ...cases(
      "an applied object has",
      without("a prefix of a name that is short of letters"),
      (value) => [["applyObject", { metadata: value }]],
    ),
    ...cases(
      "an update brings",
      without("a prefix of a name that is short of letters"),
      (value) => [["create", {}], ["updateObject", { metadata: value }], ["get"]],
    ),
    ...cases("a body has", UNREADABLE, (value) => [["createObject", { metadata: value }]]),
    ...cases(
      "keys that are twice",
      {
        "in their order": { list: [{ name: "a" }, { name: "a" }] },
        "with letters of HTML": { list: [{ name: "<a>" }, { name: "<a>" }] },
        "as objects of a set": {
          set: [
            { b: 1, a: "<" },
            { a: "<", b: 1 },
          ],
        },
      },
      created,
    ),
    ...cases(
      "more than one",
      { item: { one: ["a", "b"] }, entry: { entry: { a: "x", b: "y" } } },
      created,
    ),
    ...cases("a value that is none of", { "a list is short, too": { choice: "A" } }, created),
    ...cases(
      "a number has",
      {
        "a fraction": { whole: 1.5 },
        "no number": { whole: true },
        "a text": { whole: "1" },
        "a boolean for a double": { real: true },
        "more digits than an integer": { any: 1e21 },
      },
      created,
    ),
    ...cases(
      "an unknown field is below the key",
      {
        quoted: { map: { 'a"b': { more: 1 } } },
        "with a backslash": { map: { "a\\b": { more: 1 } } },
      },
      created,
    ),
    "a set of objects cannot be applied": [["apply", { set: [{ a: "x" }, { a: "y" }] }]],
    "an apply has a wrong status": [["applyObject", { spec: {}, status: { more: 1 } }]],
    "an apply of a status has a wrong spec": [
      ["create", {}],
      [
        "request",
        ({ object }) =>
          apply(`${object}/status`, { ...BODY, metadata: { name: "a" }, spec: { more: 1 } }),
      ],
    ],
    ...cases(
      "a status has",
      { "a fraction": { count: 1.5 }, "neither of two": { either: {} } },
      (value) => [
        ["create", {}],
        ["status", value],
      ],
    ),
    "a missing object has unknown fields": [["request", ({ object }) => put(object, {})]],
    "a missing object has unknown fields, strictly": [
      ["request", ({ object }) => put(object, { fieldValidation: "Strict" })],
    ],
    "an object that is there has unknown fields": [
      ["create", {}],
      ["create", { more: 1 }],
    ],
    "a stale update has unknown fields": [
      ["create", {}],
      ["request", ({ object }) => put(object, {}, { resourceVersion: "1" })],
    ],
    "an update without a version has unknown fields": [
      ["create", {}],
      ["request", ({ object }) => put(object, {})],
    ],
    ...cases(
      "a request has the option",
      {
        "fieldValidation of no kind": { fieldValidation: "x" },
        "dryRun of no kind": { dryRun: "x" },
        "force of an apply": { force: "true" },
      },
      (query) => [
        ["create", {}],
        ["request", ({ object }) => put(object, query as Record<string, string>)],
      ],
    ),
    "a new object has a version that is no number": [
      ["createObject", { metadata: { resourceVersion: "x" } }],
    ],
    "a new object has the version zero": [["createObject", { metadata: { resourceVersion: "0" } }]],
    "a name is there that was to be made": [
      ["create", {}],
      ["createObject", { metadata: { generateName: "g-" } }],
    ],
  },
};

function cases<Value>(
  about: string,
  values: Readonly<Record<string, Value>>,
  acts: (value: Value) => readonly Act[],
): Table["cases"] {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${about} ${name}`, acts(value)]),
  );
}

function created(value: unknown): readonly Act[] {
  return [["create", value]];
}

function without(name: string): Readonly<Record<string, Fields>> {
  return Object.fromEntries(Object.entries(METADATA).filter(([other]) => other !== name));
}

const BODY = { apiVersion: "tables.example.org/v1", kind: "Label" };

function put(path: string, query: Readonly<Record<string, string>>, more: Fields = {}) {
  const body = { ...BODY, metadata: { name: "a", ...more }, spec: { more: 1 } };
  return { method: "PUT", path, query, body } as const;
}
