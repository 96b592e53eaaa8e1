import {
  customResource,
  type KubeObject,
  type Resource,
  type StatusCondition,
} from "@holdfast/kubernetes";

export const GROUP = "helpers.example.org";

export interface BucketObject extends KubeObject {
  spec?: { size?: number; color?: string };
  status?: { conditions?: readonly StatusCondition[] };
}
export const Bucket: Resource<BucketObject> = customResource<BucketObject>({
  apiVersion: `${GROUP}/v1`,
  kind: "Bucket",
  plural: "buckets",
});

/** The schema of metav1.Condition, as kubebuilder writes it. */
const CONDITION = {
  type: "object",
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
  properties: {
    type: { type: "string", maxLength: 316 },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: { type: "string", minLength: 1, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
    message: { type: "string" },
    observedGeneration: { type: "integer", minimum: 0 },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
};

/** A CustomResourceDefinition whose spec has these fields. */
export function crdOf(kind: string, fields: object, versions: readonly string[] = ["v1"]) {
  const singular = kind.toLowerCase();
  const conditions = {
    type: "array",
    items: CONDITION,
    ...{ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
  };
  const properties = {
    spec: { type: "object", properties: fields },
    status: { type: "object", properties: { conditions } },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${GROUP}`, labels: { [kind]: `${versions.length}` } },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural: `${singular}s`, singular },
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties } },
      })),
    },
  };
}

export const SIZE = { size: { type: "integer" } };
