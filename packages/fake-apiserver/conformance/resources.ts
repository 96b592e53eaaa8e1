// The resources that scripts use, and the manifests of the custom ones.

import { CEL_RULES } from "./cel-rules.ts";
import { FORMATS, NUMBER_FORMATS } from "./formats.ts";

const GROUP = "conformance.example.org";

/** Paths of collections within the namespace of a script, or of the cluster. */
export const paths = {
  configMaps: "/api/v1/namespaces/$(namespace)/configmaps",
  secrets: "/api/v1/namespaces/$(namespace)/secrets",
  pods: "/api/v1/namespaces/$(namespace)/pods",
  namespaces: "/api/v1/namespaces",
  deployments: "/apis/apps/v1/namespaces/$(namespace)/deployments",
  leases: "/apis/coordination.k8s.io/v1/namespaces/$(namespace)/leases",
  events: "/apis/events.k8s.io/v1/namespaces/$(namespace)/events",
  claims: "/api/v1/namespaces/$(namespace)/persistentvolumeclaims",
  jobs: "/apis/batch/v1/namespaces/$(namespace)/jobs",
  ingresses: "/apis/networking.k8s.io/v1/namespaces/$(namespace)/ingresses",
  policies: "/apis/networking.k8s.io/v1/namespaces/$(namespace)/networkpolicies",
  budgets: "/apis/policy/v1/namespaces/$(namespace)/poddisruptionbudgets",
  widgets: `/apis/${GROUP}/v1/namespaces/$(namespace)/widgets`,
  zones: `/apis/${GROUP}/v1/zones`,
  formats: `/apis/${GROUP}/v1/namespaces/$(namespace)/formats`,
  rules: `/apis/${GROUP}/v1/namespaces/$(namespace)/rules`,
} as const;

const WIDGET_SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["color"],
      properties: {
        color: { type: "string", enum: ["red", "green", "blue"] },
        size: { type: "integer", minimum: 1, maximum: 100, default: 1 },
        label: { type: "string", maxLength: 20, pattern: "^[a-z]*$" },
        isOn: { type: "boolean", default: true },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        steps: { type: "array", items: { type: "string" } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: {
              name: { type: "string" },
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
            },
          },
        },
        settings: { type: "object", additionalProperties: { type: "string" } },
        extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        note: { type: "string", nullable: true },
      },
    },
    status: {
      type: "object",
      properties: {
        phase: { type: "string" },
        observedGeneration: { type: "integer" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: {
            type: "object",
            required: ["type", "status"],
            properties: {
              type: { type: "string" },
              status: { type: "string" },
              reason: { type: "string" },
              message: { type: "string" },
              lastTransitionTime: { type: "string", format: "date-time" },
            },
          },
        },
      },
    },
  },
};

const ZONE_SCHEMA = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { region: { type: "string" } } },
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
};

/** Manifest of the namespaced custom resource: a status subresource, defaults, every type of list, columns. */
export const widgetCrd: object = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: {
      kind: "Widget",
      listKind: "WidgetList",
      plural: "widgets",
      singular: "widget",
      shortNames: ["wi"],
      categories: ["things"],
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: WIDGET_SCHEMA },
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: "Color", type: "string", jsonPath: ".spec.color" },
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "On", type: "boolean", jsonPath: ".spec.isOn" },
          { name: "Number", type: "integer", jsonPath: ".spec.color" },
          { name: "Tags", type: "string", jsonPath: ".spec.tags" },
          { name: "Each", type: "string", jsonPath: ".spec.tags[*]" },
          { name: "First", type: "string", jsonPath: ".spec.tags[0]" },
          { name: "Last", type: "string", jsonPath: ".spec.tags[-1]" },
          { name: "App", type: "string", jsonPath: ".metadata.labels.example\\.org/app" },
          { name: "Tier", type: "string", jsonPath: ".metadata.labels['example.org/tier']" },
          {
            name: "Ready",
            type: "string",
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          {
            name: "Since",
            type: "date",
            jsonPath: '.status.conditions[?(@.type=="Ready")].lastTransitionTime',
          },
          { name: "Phase", type: "date", jsonPath: ".status.phase" },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
      },
    ],
  },
};

/** Manifest of the custom resource of the cluster. It has no subresource. */
export const zoneCrd: object = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `zones.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Cluster",
    names: { kind: "Zone", listKind: "ZoneList", plural: "zones", singular: "zone" },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: ZONE_SCHEMA } },
    ],
  },
};

/** Manifest of a namespaced custom resource with a status subresource. */
function crdOf(kind: string, spec: object, more: object = {}): object {
  const plural = `${kind.toLowerCase()}s`;
  const properties = { spec, status: { type: "object" } };
  const schema = { openAPIV3Schema: { type: "object", properties, ...more } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

/** Manifest of a custom resource with a list of texts in each format. */
export const formatCrd: object = crdOf("Format", {
  type: "object",
  properties: {
    ...Object.fromEntries(
      Object.keys(FORMATS).map((format) => [
        format,
        { type: "array", items: { type: "string", format } },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(NUMBER_FORMATS).map(([format, { type }]) => [format, { type, format }]),
    ),
  },
});

/** Manifest of a custom resource with rules in CEL. */
export const ruleCrd: object = crdOf(
  "Rule",
  {
    type: "object",
    properties: Object.fromEntries(
      CEL_RULES.map(({ name, schema, ...rule }) => [
        name,
        {
          ...schema,
          "x-kubernetes-validations": [{ ...rule.more, rule: rule.rule }],
        },
      ]),
    ),
  },
  {
    "x-kubernetes-validations": [
      { rule: "self.metadata.name != 'forbidden'", message: "this name is taken" },
    ],
  },
);

const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  v1: ["configmaps", "secrets", "pods", "namespaces", "persistentvolumeclaims"],
  "apps/v1": ["deployments"],
  "batch/v1": ["jobs"],
  "coordination.k8s.io/v1": ["leases"],
  "events.k8s.io/v1": ["events"],
  "networking.k8s.io/v1": ["ingresses", "networkpolicies"],
  "policy/v1": ["poddisruptionbudgets"],
  [`${GROUP}/v1`]: ["widgets", "zones", "formats", "rules"],
};

/** Path of the collection of each resource, over all namespaces. */
export const collections: readonly string[] = Object.entries(RESOURCES).flatMap(([group, names]) =>
  names.map((name) => `${group.includes("/") ? "/apis" : "/api"}/${group}/${name}`),
);

/**
 * Whether scripts use a resource, a subresource or a group.
 *
 * @param group - group and version, for example `apps/v1`; empty in a list of groups
 * @param name - name in the list, for example `pods/status`; in a list of groups the name of the group
 */
export function isServed(group: string, name: string): boolean {
  if (group === "") return Object.keys(RESOURCES).some((one) => one.startsWith(`${name}/`));
  return (RESOURCES[group] ?? []).includes(name.replace(/\/.*$/, ""));
}
