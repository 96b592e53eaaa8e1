import { created, type Table } from "./table.ts";

const TYPE = { apiVersion: "v1", kind: "ConfigMap" };

/** Objects of Kubernetes within a custom object. */
export const embedded: Table = {
  kind: "Embedder",
  spec: {
    type: "object",
    properties: {
      open: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
      },
      closed: {
        type: "object",
        "x-kubernetes-embedded-resource": true,
        properties: { spec: { type: "object", properties: { a: { type: "string" } } } },
      },
      list: {
        type: "array",
        items: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  },
  cases: {
    ...created({
      "an object needs a type": { open: {} },
      "an object needs a kind": { open: { apiVersion: "v1" } },
      "an object needs no metadata": { open: TYPE },
      "an empty type is refused": { open: { apiVersion: "", kind: "" } },
      "an API version has one slash": { open: { apiVersion: "a/b/c", kind: "A" } },
      "a kind is a label in any case": { open: { apiVersion: "v1", kind: "a_b" } },
      "a name is not checked": { open: { ...TYPE, metadata: { name: "X_Y" } } },
      "labels are checked": { open: { ...TYPE, metadata: { labels: { "a b": "c d" } } } },
      "annotations are checked": { open: { ...TYPE, metadata: { annotations: { "a b": "" } } } },
      "a namespace is checked": { open: { ...TYPE, metadata: { namespace: "A_b" } } },
      "a label is a text": { open: { ...TYPE, metadata: { labels: { a: 1 } } } },
      "metadata is an object": { open: { ...TYPE, metadata: "x" } },
      "an API version is a text": { open: { apiVersion: 1, kind: "A" } },
      "unknown metadata is dropped": { open: { ...TYPE, metadata: { name: "x", foo: 1 } } },
      "empty metadata stays": { open: { ...TYPE, metadata: {} } },
      "an empty name is dropped": { open: { ...TYPE, metadata: { name: "" } } },
      "unknown fields of a closed object are dropped": {
        closed: { ...TYPE, metadata: { name: "x" }, foo: 1, spec: { a: "1", b: 2 } },
      },
      "unknown fields of an open object stay": { open: { ...TYPE, foo: { bar: null } } },
      "items of a list are objects": { list: [TYPE, { kind: "A" }] },
    }),
    "an apply owns the fields of an object": [
      [
        "apply",
        { open: { ...TYPE, metadata: { name: "x", labels: { a: "b" } }, data: { a: "1" } } },
      ],
      ["apply", { open: { ...TYPE, metadata: { name: "x" } } }],
    ],
  },
};
