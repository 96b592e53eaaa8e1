import { created, type Table } from "./table.ts";

/** Defaults in defaults, in items and in entries. */
export const defaults: Table = {
  kind: "Default",
  spec: {
    type: "object",
    default: {},
    properties: {
      outer: {
        type: "object",
        default: { given: true },
        properties: {
          given: { type: "boolean" },
          inner: {
            type: "object",
            default: {},
            properties: { level: { type: "integer", default: 3 }, name: { type: "string" } },
          },
        },
      },
      bare: {
        type: "object",
        properties: { level: { type: "integer", default: 1 } },
      },
      items: {
        type: "array",
        items: {
          type: "object",
          properties: {
            size: { type: "integer", default: 1 },
            on: { type: "boolean", default: false },
          },
        },
      },
      map: {
        type: "object",
        additionalProperties: {
          type: "object",
          properties: { weight: { type: "integer", default: 100 } },
        },
      },
      list: { type: "array", items: { type: "string" }, default: ["a", "b"] },
      maybe: { type: "string", nullable: true, default: "x" },
      choice: { type: "string", enum: ["A", "B"], default: "A" },
      limit: { "x-kubernetes-int-or-string": true, default: "25%" },
    },
  },
  cases: {
    ...created({
      "an empty spec is filled": {},
      "an outer object has only its own fields": { outer: {} },
      "an inner object is given": { outer: { inner: { name: "a" } } },
      "an inner object is null": { outer: { inner: null } },
      "an object without a default is filled if it is there": { bare: {} },
      "an object without a default is null": { bare: null },
      "items are filled": { items: [{}, { size: 5 }, { on: true }] },
      "entries are filled": { map: { a: {}, b: { weight: 5 } } },
      "an entry is null": { map: { a: null } },
      "a list is given": { list: [] },
      "a list is null": { list: null },
      "a nullable field is null": { maybe: null },
      "a choice is null": { choice: null },
      "a choice is wrong": { choice: "C" },
      "a limit is a number": { limit: 5 },
    }),
    "an object without a spec is filled": [["createObject", {}]],
    "a spec is null": [["create", null]],
    "an update fills what it leaves out": [
      ["create", { choice: "B", limit: 1, list: [] }],
      ["update", {}],
    ],
    "a merge patch removes what is filled again": [
      ["create", { choice: "B" }],
      ["merge", { spec: { choice: null, outer: { inner: { level: null } } } }],
    ],
    "a JSON patch removes what is filled again": [
      ["create", { choice: "B" }],
      ["patch", [{ op: "remove", path: "/spec/choice" }]],
    ],
    "an apply owns no defaults": [
      ["apply", { items: [{}], map: { a: {} } }],
      ["apply", {}],
    ],
    "an apply leaves a default to another": [
      ["apply", { choice: "B" }],
      ["apply", { choice: "A" }, "two"],
      ["apply", {}],
    ],
    "a merge patch fills new items": [
      ["create", { items: [{ size: 2 }] }],
      ["merge", { spec: { items: [{}, {}] } }],
    ],
  },
};
