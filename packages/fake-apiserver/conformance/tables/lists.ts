import type { Table } from "./table.ts";

const TEXT = { type: "string" };

const CONTAINERS = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: {
    type: "object",
    required: ["name"],
    properties: {
      name: TEXT,
      image: { type: "string", default: "busybox" },
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        items: {
          type: "object",
          required: ["port"],
          properties: {
            port: { type: "integer" },
            protocol: { type: "string", default: "TCP" },
            name: TEXT,
          },
        },
      },
      args: { type: "array", items: TEXT },
      caps: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    },
  },
};

/** Keyed lists in keyed lists, sets, atomic lists: how applies merge them, and who owns what. */
export const lists: Table = {
  kind: "Pile",
  spec: {
    type: "object",
    properties: {
      containers: CONTAINERS,
      loose: { type: "array", items: { type: "object", properties: { containers: CONTAINERS } } },
      whole: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: { a: TEXT, containers: CONTAINERS },
      },
      map: { type: "object", additionalProperties: { type: "object", properties: { a: TEXT } } },
      text: TEXT,
      number: { type: "integer" },
      flag: { type: "boolean" },
    },
  },
  cases: {
    "an apply adds an item to a list": [
      ["apply", { containers: [{ name: "a", image: "x" }] }],
      ["apply", { containers: [{ name: "b" }] }, "two"],
    ],
    "an apply adds an item to a list within an item": [
      ["apply", { containers: [{ name: "a", ports: [{ port: 80 }] }] }],
      ["apply", { containers: [{ name: "a", ports: [{ port: 80, protocol: "UDP" }] }] }, "two"],
    ],
    "an apply drops its item": [
      ["apply", { containers: [{ name: "a" }, { name: "b" }] }],
      ["apply", { containers: [{ name: "b" }] }],
    ],
    "an apply drops an item in which another owns a field": [
      ["apply", { containers: [{ name: "a", image: "x" }] }],
      ["apply", { containers: [{ name: "a", args: ["1"] }] }, "two"],
      ["apply", { containers: [] }],
    ],
    "an apply drops an item of an inner list": [
      ["apply", { containers: [{ name: "a", ports: [{ port: 80 }, { port: 81 }] }] }],
      ["apply", { containers: [{ name: "a", ports: [{ port: 81 }] }] }],
    ],
    "a default of a key tells items apart": [
      [
        "apply",
        { containers: [{ name: "a", ports: [{ port: 80 }, { port: 80, protocol: "UDP" }] }] },
      ],
    ],
    "a default of a key makes two items equal": [
      [
        "apply",
        { containers: [{ name: "a", ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }] },
      ],
    ],
    "a create has an item twice": [["create", { containers: [{ name: "a" }, { name: "a" }] }]],
    "a create has an inner item twice": [
      [
        "create",
        { containers: [{ name: "a", ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }] },
      ],
    ],
    "a create has an item without its key": [["create", { containers: [{ image: "x" }] }]],
    "an apply has an item without its key": [["apply", { containers: [{ image: "x" }] }]],
    "an apply has an inner item with one of two keys": [
      ["apply", { containers: [{ name: "a", ports: [{ protocol: "UDP" }] }] }],
    ],
    "an apply has an item that is a text": [["apply", { containers: ["a"] }]],
    "an apply has an object for a list": [["apply", { containers: {} }]],
    "an apply has a text for a list": [["apply", { containers: "x" }]],
    "an apply has a list for an object": [["apply", { map: [] }]],
    "an apply has a text for an object": [["apply", { map: "x" }]],
    "an apply has a text for the spec": [["apply", "x"]],
    "an apply has a number for a text": [["apply", { text: 1 }]],
    "an apply has a text for a number": [["apply", { number: "x" }]],
    "an apply has a text for a boolean": [["apply", { flag: "x" }]],
    "an apply has a boolean for a number": [["apply", { number: true }]],
    "an apply has an object for a text": [["apply", { text: {} }]],
    "an apply has an unknown field": [["apply", { more: 1 }]],
    "an apply has an unknown field of an item": [
      ["apply", { containers: [{ name: "a", more: 1 }] }],
    ],
    "an apply has an unknown field of the object": [["applyObject", { more: 1 }]],
    "an apply has an unknown field of the metadata": [["applyObject", { metadata: { more: 1 } }]],
    "an apply names its namespace in a refusal": [
      ["applyObject", { metadata: { namespace: "$(namespace)" }, spec: { more: 1 } }],
    ],
    "an apply has a keyed item twice in an atomic list": [
      ["apply", { loose: [{ containers: [{ name: "a" }, { name: "a" }] }] }],
    ],
    "an apply has an item without its key in an atomic list": [
      ["apply", { loose: [{ containers: [{ image: "x" }] }] }],
    ],
    "an apply has an item without its key in an atomic object": [
      ["apply", { whole: { containers: [{ image: "x" }] } }],
    ],
    "an atomic list is replaced": [
      ["apply", { loose: [{ containers: [{ name: "a" }] }] }],
      ["force", { loose: [{ containers: [{ name: "b" }] }] }, "two"],
    ],
    "an atomic list has another owner": [
      ["apply", { loose: [{ containers: [{ name: "a" }] }] }],
      ["apply", { loose: [{ containers: [{ name: "b" }] }] }, "two"],
    ],
    "an atomic object has another owner": [
      ["apply", { whole: { a: "1" } }],
      ["apply", { whole: { a: "2" } }, "two"],
    ],
    "a set has a value of two owners": [
      ["apply", { containers: [{ name: "a", caps: ["x", "y"] }] }],
      ["apply", { containers: [{ name: "a", caps: ["y", "z"] }] }, "two"],
      ["apply", { containers: [{ name: "a", caps: [] }] }],
    ],
    "a set has a value twice": [["apply", { containers: [{ name: "a", caps: ["x", "x"] }] }]],
    "a conflict names fields of items": [
      [
        "apply",
        {
          containers: [
            { name: "a", image: "x" },
            { name: "b", image: "x" },
          ],
        },
      ],
      [
        "apply",
        {
          containers: [
            { name: "b", image: "y" },
            { name: "a", image: "y" },
          ],
        },
        "two",
      ],
    ],
    "conflicts are ordered by field": [
      ["apply", { text: "1", number: 1, map: { z: { a: "1" }, b: { a: "1" } } }],
      ["apply", { map: { b: { a: "2" }, z: { a: "2" } }, number: 2, text: "2" }, "two"],
    ],
    "conflicts are ordered by manager": [
      ["apply", { text: "1" }, "zoe"],
      ["apply", { number: 1 }, "ann"],
      ["apply", { text: "2", number: 2 }, "two"],
    ],
    "an apply takes a field by force": [
      ["apply", { text: "1" }],
      ["force", { text: "2" }, "two"],
      ["apply", { text: "1" }],
    ],
    "two managers own the same value": [
      ["apply", { text: "1" }],
      ["apply", { text: "1" }, "two"],
      ["apply", {}],
    ],
    "an update takes a field": [
      ["apply", { text: "1" }],
      ["update", { text: "2" }],
      ["apply", { text: "1" }],
    ],
    "entries of a map have owners": [
      ["apply", { map: { a: { a: "1" } } }],
      ["apply", { map: { b: { a: "1" } } }, "two"],
      ["apply", {}],
    ],
    "a key of a map has special letters": [["apply", { map: { 'a/b~c"d.e<&>': { a: "x" } } }]],
    "a key of an item has special letters": [["apply", { containers: [{ name: 'a"b<&>\u00e4' }] }]],
    "a merge patch replaces a list": [
      ["create", { containers: [{ name: "a" }, { name: "b" }] }],
      ["merge", { spec: { containers: [{ name: "c" }] } }],
    ],
    "an apply after a create": [
      ["create", { text: "1", containers: [{ name: "a", image: "x" }] }],
      ["apply", { text: "1" }],
      ["apply", { text: "2" }],
    ],
    "an apply keeps the order of items": [
      ["apply", { containers: [{ name: "a" }, { name: "c" }] }],
      ["apply", { containers: [{ name: "b" }, { name: "c" }, { name: "d" }] }, "two"],
    ],
  },
};
