import type { Table } from "./table.ts";

const METADATA = { finalizers: ["short", "example.org/long", "dotted.name"] };

/** The words of refusals and warnings about metadata, unknown fields and paths. */
export const words: Table = {
  kind: "Word",
  spec: {
    type: "object",
    properties: {
      map: {
        type: "object",
        maxProperties: 9,
        additionalProperties: {
          type: "object",
          required: ["a"],
          properties: { a: { type: "string", minLength: 2, maxLength: 9 } },
          "x-kubernetes-validations": [{ rule: "self.a != 'no'", message: "no no" }],
        },
      },
      list: {
        type: "array",
        maxItems: 9,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a", "b"],
        items: {
          type: "object",
          required: ["a"],
          properties: {
            a: { type: "string", maxLength: 9 },
            b: { type: "integer", default: 1 },
            c: { type: "string" },
          },
          "x-kubernetes-validations": [{ rule: "self.a != 'no'", message: "no no" }],
        },
      },
      date: { type: "string", format: "date-time" },
      either: { "x-kubernetes-int-or-string": true },
    },
  },
  cases: {
    "a schema names an entry of a map with a dot": [["create", { map: { k: { a: "x" } } }]],
    "a rule names an entry of a map in brackets": [["create", { map: { k: { a: "no" } } }]],
    "a rule names an entry with special letters": [["create", { map: { "k/y.z": { a: "no" } } }]],
    "a warning names an entry of a map with a dot": [
      ["create", { map: { k: { a: "xx", more: 1 } } }],
    ],
    "a rule names an item by its index": [["create", { list: [{ a: "no" }] }]],
    "keys that are twice are named as an object": [["create", { list: [{ a: "x" }, { a: "x" }] }]],
    "keys that are twice with two values": [
      [
        "create",
        {
          list: [
            { a: "x", b: 2 },
            { a: "x", b: 2 },
            { a: "x", b: 2 },
          ],
        },
      ],
    ],
    "a refused request has its warnings": [["create", { more: 1, list: [{}] }]],
    "an unknown field is refused strictly": [
      ["strict", { more: 1, map: { k: { a: "xx", other: 2 } } }],
    ],
    "a text is no date": [["create", { date: "x" }]],
    "a boolean is neither number nor text": [["create", { either: true }]],
    "an object has a list for an object": [["create", { map: [] }]],
    "finalizers have warnings": [["createObject", { metadata: METADATA }]],
    "finalizers have no new warnings in an update": [
      ["createObject", { metadata: { finalizers: ["short"] } }],
      ["updateObject", { metadata: { finalizers: ["short", "other"] } }],
      ["merge", { metadata: { finalizers: null } }],
    ],
    "a name has capitals": [["createObject", { metadata: { name: "A_b" } }]],
    "a name has an empty part": [["createObject", { metadata: { name: "a..b" } }]],
    "labels are wrong": [["createObject", { metadata: { labels: { "a b": "c d" } } }]],
    "a label has a long value": [["createObject", { metadata: { labels: { a: "x".repeat(64) } } }]],
    "annotations are wrong": [["createObject", { metadata: { annotations: { "a b": "" } } }]],
    "finalizers are wrong": [["createObject", { metadata: { finalizers: ["a b"] } }]],
    "an owner lacks its fields": [
      ["createObject", { metadata: { ownerReferences: [{ apiVersion: "v1" }] } }],
    ],
    "a new object has fields of the server": [
      [
        "createObject",
        {
          metadata: { selfLink: "/x", generation: 7, uid: "abc", deletionGracePeriodSeconds: 5 },
        },
      ],
    ],
    "a new object has a version": [["createObject", { metadata: { resourceVersion: "5" } }]],
    "a dry run has a version": [
      [
        "request",
        ({ collection }) => ({
          method: "POST",
          path: collection,
          query: { dryRun: "All" },
          body: {
            apiVersion: "tables.example.org/v1",
            kind: "Word",
            metadata: { name: "a", resourceVersion: "5" },
          },
        }),
      ],
    ],
    "unknown metadata has a warning": [["createObject", { metadata: { more: 1 } }]],
    "unknown fields of the object have a warning": [
      ["createObject", { more: 1, spec: { other: 2 } }],
    ],
  },
};
