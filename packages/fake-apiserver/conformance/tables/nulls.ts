import type { Act, Table } from "./table.ts";

const TEXT = { type: "string" };

/** Nulls and empty values, by the name of the case: in a create, and in a first apply. */
const FIRST: Readonly<Record<string, unknown>> = {
  "a text": { n: null },
  "a nullable text": { nn: null },
  "a text with a default": { d: null },
  "an object": { t: null },
  "an empty object": { t: {} },
  "a field of an object": { t: { a: null } },
  "a map": { m: null },
  "an empty map": { m: {} },
  "an entry of a map": { m: { x: null } },
  "a list": { l: null },
  "an empty list": { l: [] },
  "an item of a list": { l: [null] },
  "a keyed list": { k: null },
  "a field of a keyed item": { k: [{ key: "a", v: null }] },
  "an empty object of a keyed item": { k: [{ key: "a", o: {} }] },
  "a field without a schema": { p: { x: null } },
  "a deep field without a schema": { p: { x: { y: null } } },
  "an empty open object": { p: {} },
  "any value": { any: null },
  "a field of any value": { any: { x: null } },
  "a nullable object": { tn: null },
  "an empty atomic object": { at: {} },
  "a field of an atomic object": { at: { a: null } },
};

/** Two applies of one manager. */
const THEN: Readonly<Record<string, readonly [unknown, unknown]>> = {
  "empties an object": [{ t: { a: "1" } }, { t: {} }],
  "empties a map": [{ m: { x: "1" } }, { m: {} }],
  "empties a deep object": [{ t: { b: { c: "1" } } }, { t: { b: {} } }],
  "nulls a text": [{ n: "1" }, { n: null }],
  "nulls a text with a default": [{ d: "1" }, { d: null }],
  "nulls an object": [{ t: { a: "1" } }, { t: null }],
  "empties a list": [{ l: ["a"] }, { l: [] }],
  "empties a keyed list": [{ k: [{ key: "a" }] }, { k: [] }],
  "empties a set": [{ s: ["a"] }, { s: [] }],
  "empties a set beside another field": [
    { s: ["a"], n: "1" },
    { s: [], n: "1" },
  ],
  "empties an open object": [{ p: { x: 1 } }, { p: {} }],
  "nulls a field without a schema": [{ p: { x: 1 } }, { p: { x: null } }],
  "empties an object without a schema": [{ p: { x: { y: 1 } } }, { p: { x: {} } }],
  "empties an atomic object": [{ at: { a: "1" } }, { at: {} }],
  "empties a nullable object": [{ tn: { a: "1" } }, { tn: {} }],
  "empties an object of a keyed item": [
    { k: [{ key: "a", o: { z: "1" } }] },
    { k: [{ key: "a", o: {} }] },
  ],
  "repeats an empty object": [{ t: {} }, { t: {} }],
  "empties any value": [{ any: { a: 1 } }, { any: {} }],
  "drops everything": [{ t: { a: "1" } }, {}],
};

/** Nulls and empty values in applies, where a server refuses more than in a create. */
export const nulls: Table = {
  kind: "Nullable",
  spec: {
    type: "object",
    properties: {
      t: {
        type: "object",
        properties: { a: TEXT, b: { type: "object", properties: { c: TEXT } } },
      },
      m: { type: "object", additionalProperties: TEXT },
      n: TEXT,
      nn: { type: "string", nullable: true },
      d: { type: "string", default: "x" },
      l: { type: "array", items: TEXT },
      s: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
      k: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["key"],
        items: {
          type: "object",
          required: ["key"],
          properties: { key: TEXT, v: TEXT, o: { type: "object", properties: { z: TEXT } } },
        },
      },
      p: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      any: { "x-kubernetes-preserve-unknown-fields": true },
      tn: { type: "object", nullable: true, properties: { a: TEXT } },
      at: { type: "object", properties: { a: TEXT }, "x-kubernetes-map-type": "atomic" },
    },
  },
  cases: {
    ...Object.fromEntries(
      Object.entries(FIRST).flatMap(([name, spec]): [string, readonly Act[]][] => [
        [`created: ${name} is null or empty`, [["create", spec]]],
        [`applied: ${name} is null or empty`, [["apply", spec]]],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(THEN).map(([name, [first, then]]): [string, readonly Act[]] => [
        `an apply ${name}`,
        [
          ["apply", first],
          ["apply", then],
        ],
      ]),
    ),
    "an apply empties an object in which another manager has a field": [
      ["apply", { t: { a: "1" } }],
      ["apply", { t: { b: { c: "x" } } }, "two"],
      ["apply", { t: {} }],
    ],
    "an apply has an empty spec": [["apply", {}]],
    "an apply has a null as its spec": [["apply", null]],
    "an apply empties a status": [
      ["create", {}],
      ["applyStatus", {}, "status"],
      ["applyStatus", { a: 1 }, "status"],
      ["applyStatus", {}, "status"],
    ],
    "an apply nulls a status": [
      ["create", {}],
      ["applyStatus", { a: 1 }, "status"],
      ["applyStatus", null, "status"],
    ],
    "an update has nulls": [
      ["create", { n: "1", t: { a: "1" } }],
      ["update", { n: null, p: { x: null }, t: { a: null }, m: { x: null }, any: { x: null } }],
    ],
    "a JSON patch adds nulls": [
      ["create", { n: "1" }],
      ["patch", [{ op: "replace", path: "/spec/n", value: null }]],
      ["patch", [{ op: "add", path: "/spec/nn", value: null }]],
      ["patch", [{ op: "add", path: "/spec/d", value: null }]],
    ],
    "a merge patch removes with null": [
      ["create", { n: "1", m: { x: "1" }, nn: "1" }],
      ["merge", { spec: { n: null, m: { x: null }, nn: null } }],
    ],
  },
};
