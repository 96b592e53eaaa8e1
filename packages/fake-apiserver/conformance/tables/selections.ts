import type { Paths, Table } from "./table.ts";

const query =
  (fieldSelector: string) =>
  ({ collection }: Paths) =>
    ({ method: "GET", path: collection, query: { fieldSelector } }) as const;

const OBJECT = { color: "red", size: 5, isOn: true, deep: { name: "x" } };

/** Lists by the fields that a manifest names as selectable, and the subresource `scale`. */
export const selections: Table = {
  kind: "Selection",
  spec: {
    type: "object",
    properties: {
      color: { type: "string" },
      size: { type: "integer" },
      isOn: { type: "boolean" },
      deep: { type: "object", properties: { name: { type: "string" } } },
      replicas: { type: "integer", default: 1 },
    },
  },
  version: {
    selectableFields: [
      { jsonPath: ".spec.color" },
      { jsonPath: ".spec.size" },
      { jsonPath: ".spec.isOn" },
      { jsonPath: ".spec.deep.name" },
    ],
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
  },
  cases: {
    "a text is selected": [
      ["create", OBJECT],
      ["request", query("spec.color=red")],
    ],
    "a text is not selected": [
      ["create", OBJECT],
      ["request", query("spec.color!=red")],
    ],
    "a number is selected": [
      ["create", OBJECT],
      ["request", query("spec.size=5")],
    ],
    "a boolean is selected": [
      ["create", OBJECT],
      ["request", query("spec.isOn=true")],
    ],
    "a deep field is selected": [
      ["create", OBJECT],
      ["request", query("spec.deep.name=x,metadata.name=a")],
    ],
    "a missing field is empty": [
      ["create", {}],
      ["request", query("spec.color=")],
    ],
    "a missing boolean is empty": [
      ["create", {}],
      ["request", query("spec.isOn=")],
    ],
    "another field is refused": [
      ["create", OBJECT],
      ["request", query("spec.replicas=1")],
    ],
    "a field of the metadata is refused": [
      ["create", OBJECT],
      ["request", query("metadata.uid=x")],
    ],
    "a scale is read": [
      ["create", { replicas: 3 }],
      ["request", ({ object }) => ({ method: "GET", path: `${object}/scale` })],
    ],
    "a scale has the status": [
      ["create", { replicas: 3 }],
      ["status", { replicas: 2, selector: "app=a" }],
      ["request", ({ object }) => ({ method: "GET", path: `${object}/scale` })],
    ],
    "a scale is patched": [
      ["create", { replicas: 3 }],
      [
        "request",
        ({ object }) => ({
          method: "PATCH",
          path: `${object}/scale`,
          contentType: "application/merge-patch+json",
          body: { spec: { replicas: 5 } },
        }),
      ],
      ["get"],
    ],
    "a scale is put": [
      ["create", { replicas: 3 }],
      [
        "request",
        ({ object }) => ({
          method: "PUT",
          path: `${object}/scale`,
          body: {
            apiVersion: "autoscaling/v1",
            kind: "Scale",
            metadata: { name: "a", namespace: "$(namespace)" },
            spec: { replicas: 7 },
          },
        }),
      ],
      ["get"],
    ],
    "a scale is below zero": [
      ["create", { replicas: 3 }],
      [
        "request",
        ({ object }) => ({
          method: "PATCH",
          path: `${object}/scale`,
          contentType: "application/merge-patch+json",
          body: { spec: { replicas: -1 } },
        }),
      ],
    ],
    "a scale of nothing is missing": [
      ["request", ({ object }) => ({ method: "GET", path: `${object}/scale` })],
    ],
  },
};
