import type { Fields, Table } from "./table.ts";

const MERGE = "application/merge-patch+json";

function read({ object }: { readonly object: string }) {
  return { method: "GET" as const, path: `${object}/scale` };
}

function patched(body: Fields) {
  return ({ object }: { readonly object: string }) => ({
    method: "PATCH" as const,
    path: `${object}/scale`,
    contentType: MERGE,
    body,
  });
}

function replaced(body: Fields) {
  return ({ object }: { readonly object: string }) => ({
    method: "PUT" as const,
    path: `${object}/scale`,
    body: {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a", namespace: "$(namespace)" },
      ...body,
    },
  });
}

/** The subresource `scale` of objects whose replicas have no default. */
export const scales: Table = {
  kind: "Scaling",
  spec: { type: "object", properties: { replicas: { type: "integer" } } },
  version: {
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
  },
  uncompared: ["message", "details.causes.*.message"].map((part) => ({
    path: `1.body.${part}`,
    reason: "the text of a refused patch has the uid and the time of its object",
  })),
  cases: {
    "an object of negative replicas": [["create", { replicas: -1 }], ["get"]],
    "an object of more replicas than 32 bits hold": [
      ["create", { replicas: 2_147_483_648 }],
      ["get"],
    ],
    "an object of a text as replicas": [["create", { replicas: "x" }], ["get"]],
    "an update to negative replicas": [
      ["create", { replicas: 1 }],
      ["merge", { spec: { replicas: -2 } }],
      ["update", { replicas: -2 }],
    ],
    "an apply of negative replicas": [["apply", { replicas: -1 }], ["get"]],
    "a status of negative replicas": [
      ["create", { replicas: 1 }],
      ["status", { replicas: -1 }],
    ],
    "a status of too many replicas": [
      ["create", {}],
      ["status", { replicas: 3_000_000_000 }],
    ],
    "a status of a text, a fraction, a list and a map as replicas": [
      ["create", {}],
      ["status", { replicas: "x" }],
      ["status", { replicas: 1.5 }],
      ["status", { replicas: [1, true] }],
      ["status", { replicas: { b: "c", a: 1 } }],
      ["status", { replicas: null }],
    ],
    "a status of a number as selector": [
      ["create", {}],
      ["status", { selector: 5 }],
    ],
    "a patch of negative replicas": [
      ["create", { replicas: 2 }],
      ["request", patched({ spec: { replicas: -1 } })],
      ["request", replaced({ spec: { replicas: -1 } })],
    ],
    "replicas that are missing cannot be read": [
      ["create", {}],
      ["request", read],
    ],
    "replicas of 0 are left out": [
      ["create", { replicas: 0 }],
      ["request", read],
    ],
    "a patch sets 0": [
      ["create", { replicas: 2 }],
      ["request", patched({ spec: { replicas: 0 } })],
      ["get"],
    ],
    "a patch sets replicas that were missing": [
      ["create", {}],
      ["request", patched({ spec: { replicas: 1 } })],
      ["get"],
    ],
    "a patch of null": [
      ["create", { replicas: 2 }],
      ["request", patched({ spec: { replicas: null } })],
      ["get"],
    ],
    "a patch of a text": [
      ["create", { replicas: 2 }],
      ["request", patched({ spec: { replicas: "3" } })],
    ],
    "a patch of a fraction": [
      ["create", { replicas: 2 }],
      ["request", patched({ spec: { replicas: 1.5 } })],
    ],
    "a put without a spec": [["create", { replicas: 2 }], ["request", replaced({})], ["get"]],
    "a put of null": [
      ["create", { replicas: 2 }],
      ["request", replaced({ spec: { replicas: null } })],
      ["get"],
    ],
  },
};
