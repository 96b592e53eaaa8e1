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
      scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
    },
  },
  uncompared: ["message", "details.causes.*.message"].map((part) => ({
    path: `1.body.${part}`,
    reason: "the text of a refused patch has the uid and the time of its object",
  })),
  cases: {
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
