import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { apply, get, jsonPatch, mergePatch, post, put, typed, watch, widget } from "../steps.ts";

const { widgets, zones, pods, deployments } = paths;

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "main", image: "image:1" }] },
  status: { phase: "Running" },
};

/** The status subresource and the generation. */
export const status: readonly Script[] = [
  {
    name: "a create drops the status and begins at generation 1",
    steps: [
      post(widgets, { ...widget("a"), status: { phase: "made up" } }),
      post(pods, pod),
      get(`${pods}/a`),
    ],
    uncompared: typed("body.status", "body.spec.containers.0.resources"),
  },
  {
    name: "a put or patch of the object leaves the status alone",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a/status`, { status: { phase: "ready" } }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 }, status: { phase: "made up" } }),
      mergePatch(`${widgets}/a`, { status: { phase: "made up" } }),
    ],
  },
  {
    name: "a put of the status leaves spec, labels and generation alone",
    steps: [
      post(widgets, widget("a", { color: "red" }, { labels: { app: "x" } }), { id: "first" }),
      put(`${widgets}/a/status`, {
        ...widget(
          "a",
          { color: "blue" },
          { resourceVersion: "$(first.metadata.resourceVersion)", labels: { app: "y" } },
        ),
        status: { phase: "ready" },
      }),
      get(`${widgets}/a`),
      get(`${widgets}/a/status`),
    ],
  },
  {
    name: "a write of the status takes no managed fields",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red" }), { manager: "one" }),
      mergePatch(`${widgets}/a/status`, {
        metadata: { managedFields: [{}] },
        status: { phase: "first" },
      }),
      mergePatch(`${widgets}/a/status`, {
        metadata: { managedFields: [] },
        status: { phase: "second" },
      }),
      jsonPatch(`${widgets}/a/status`, [
        { op: "replace", path: "/metadata/managedFields/0/manager", value: "another" },
        { op: "replace", path: "/status/phase", value: "third" },
      ]),
      jsonPatch(`${widgets}/a/status`, [
        { op: "replace", path: "/metadata/managedFields/0/manager", value: "another" },
      ]),
      get(`${widgets}/a`, { id: "last" }),
      put(`${widgets}/a/status`, {
        ...widget(
          "a",
          { color: "red" },
          {
            resourceVersion: "$(last.metadata.resourceVersion)",
            managedFields: [
              {
                ...{ manager: "given", operation: "Apply", fieldsType: "FieldsV1" },
                apiVersion: "conformance.example.org/v1",
                fieldsV1: { "f:spec": { "f:color": {} } },
              },
            ],
          },
        ),
        status: { phase: "fourth" },
      }),
      apply(`${widgets}/a`, widget("a", { color: "blue" }), { manager: "one", force: false }),
    ],
  },
  {
    name: "a put of the status with a stale version is 409",
    steps: [
      post(widgets, widget("a"), { id: "first" }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }),
      put(`${widgets}/a/status`, {
        ...widget("a", { color: "red" }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
        status: { phase: "ready" },
      }),
    ],
  },
  {
    name: "a patch of the status changes nothing but the status",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a/status`, {
        metadata: { annotations: { by: "status" }, labels: { by: "status" } },
        spec: { size: 9 },
        status: { phase: "ready" },
      }),
      jsonPatch(`${widgets}/a/status`, [
        { op: "replace", path: "/status/phase", value: "gone" },
        { op: "replace", path: "/spec/size", value: 8 },
      ]),
    ],
  },
  {
    name: "a status that does not change makes no version",
    steps: [
      post(widgets, widget("a"), { id: "first" }),
      mergePatch(`${widgets}/a/status`, { status: { phase: "ready" } }),
      mergePatch(`${widgets}/a/status`, { status: { phase: "ready" } }),
      mergePatch(`${widgets}/a/status`, { status: { phase: "done" } }),
      watch(widgets, { take: 2 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "the generation rises with the spec and not with labels",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a`, { metadata: { labels: { app: "x" } } }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }),
      mergePatch(`${widgets}/a`, { metadata: { generation: 70 } }),
    ],
  },
  {
    name: "the generation of a resource without a status subresource rises with its status",
    steps: [
      post(zones, {
        apiVersion: "conformance.example.org/v1",
        kind: "Zone",
        metadata: { name: "$(namespace)" },
        spec: { region: "north" },
        status: { phase: "new" },
      }),
      mergePatch(`${zones}/$(namespace)`, { status: { phase: "ready" } }),
      mergePatch(`${zones}/$(namespace)`, { metadata: { labels: { app: "x" } } }),
      mergePatch(`${zones}/$(namespace)/status`, { status: { phase: "done" } }),
    ],
  },
  {
    name: "the status of a built-in object is apart from its spec",
    steps: [
      post(deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec: { replicas: 1, selector: { matchLabels: { app: "x" } } },
      }),
      mergePatch(`${deployments}/a`, { spec: { replicas: 2 }, status: { replicas: 7 } }),
      mergePatch(`${deployments}/a/status`, { spec: { replicas: 9 }, status: { replicas: 2 } }),
    ],
    uncompared: typed("body.status", "body.spec.strategy", "body.spec.template"),
  },
  {
    name: "an apply of the status owns the status alone",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a"), { manager: "spec" }),
      apply(
        `${widgets}/a/status`,
        {
          apiVersion: "conformance.example.org/v1",
          kind: "Widget",
          metadata: { name: "a" },
          status: { phase: "ready", observedGeneration: 1 },
        },
        { manager: "status", force: true },
      ),
      apply(
        `${widgets}/a/status`,
        {
          apiVersion: "conformance.example.org/v1",
          kind: "Widget",
          metadata: { name: "a" },
          status: { phase: "done" },
        },
        { manager: "status", force: true },
      ),
    ],
  },
  {
    name: "an apply of the status of a missing object is 404",
    steps: [
      apply(`${widgets}/a/status`, {
        apiVersion: "conformance.example.org/v1",
        kind: "Widget",
        metadata: { name: "a" },
        status: { phase: "ready" },
      }),
    ],
  },
];
