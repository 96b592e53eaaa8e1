import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import {
  configMap,
  get,
  mergePatch,
  post,
  put,
  remove,
  typed,
  UNGENERATED,
  watch,
  widget,
} from "../steps.ts";

const { configMaps, leases, widgets, zones, namespaces, secrets } = paths;

/** Creating, reading, replacing and deleting. */
export const writes: readonly Script[] = [
  {
    name: "a create answers 201 with the object that a get then answers",
    steps: [
      post(configMaps, configMap("a", { text: "one" }, { labels: { app: "x" } })),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "a create under a name that exists is 409 AlreadyExists",
    steps: [post(configMaps, configMap("a", { text: "one" })), post(configMaps, configMap("a"))],
  },
  {
    name: "a get, put, patch or delete of a missing object is 404 NotFound",
    steps: [
      get(`${configMaps}/missing`),
      put(`${configMaps}/missing`, configMap("missing", { text: "one" })),
      {
        method: "PATCH",
        path: `${configMaps}/missing`,
        contentType: "application/merge-patch+json",
        body: { data: { text: "one" } },
      },
      remove(`${configMaps}/missing`),
      get(`${widgets}/missing`),
      put(`${widgets}/missing/status`, widget("missing")),
    ],
  },
  {
    name: "a put with the current version replaces the object",
    steps: [
      post(configMaps, configMap("a", { one: "1", two: "2" }, { labels: { app: "x" } }), {
        id: "first",
      }),
      put(
        `${configMaps}/a`,
        configMap("a", { one: "3" }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
      ),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "a put with a stale version is 409 Conflict and changes nothing",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" })),
      put(
        `${configMaps}/a`,
        configMap("a", { text: "three" }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
      ),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "a put of a custom object needs a version",
    steps: [
      post(widgets, widget("a")),
      put(`${widgets}/a`, widget("a", { color: "blue" })),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a put that changes nothing makes no version and no event",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "one" })),
      put(`${configMaps}/a`, configMap("a", { text: "two" })),
      watch(configMaps, { take: 1 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a put to another name or uid is refused",
    steps: [
      post(configMaps, configMap("a", { text: "one" })),
      put(`${configMaps}/a`, configMap("b", { text: "two" })),
      put(
        `${configMaps}/a`,
        configMap("a", { text: "two" }, { uid: "00000000-0000-4000-8000-000000000000" }),
      ),
    ],
  },
  {
    name: "a delete of a built-in or a custom object answers a Status",
    steps: [
      post(configMaps, configMap("a")),
      remove(`${configMaps}/a`),
      get(`${configMaps}/a`),
      post(widgets, widget("a")),
      remove(`${widgets}/a`),
      remove(`${widgets}/a`),
    ],
  },
  {
    name: "an object that is created again has another uid and a greater version",
    steps: [
      post(configMaps, configMap("a")),
      remove(`${configMaps}/a`),
      post(configMaps, configMap("a")),
    ],
  },
  {
    name: "a delete with the uid or version of another object is 409",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" }), { id: "second" }),
      remove(`${configMaps}/a`, {
        preconditions: { uid: "00000000-0000-4000-8000-000000000000" },
      }),
      remove(`${configMaps}/a`, {
        preconditions: { resourceVersion: "$(first.metadata.resourceVersion)" },
      }),
      remove(`${configMaps}/a`, {
        preconditions: {
          uid: "$(second.metadata.uid)",
          resourceVersion: "$(second.metadata.resourceVersion)",
        },
      }),
    ],
  },
  {
    name: "a generated name begins with its prefix",
    steps: [
      post(
        configMaps,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } },
        { id: "one" },
      ),
      get(`${configMaps}/$(one.metadata.name)`),
    ],
  },
  {
    name: "a create without a name, with a wrong name, version or kind is refused",
    steps: [
      post(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
      post(widgets, widget("Not_A_Name")),
      post(widgets, { ...widget("a"), kind: "Gadget" }),
      post(widgets, { ...widget("a"), apiVersion: "conformance.example.org/v2" }),
      post(widgets, widget("a", { color: "red" }, { namespace: "another" })),
      post(widgets, widget("a", { color: "red" }, { resourceVersion: "1" })),
    ],
    uncompared: [
      {
        path: "3.warnings",
        reason: "a fake server without other versions has no schema to warn by",
        on: "fake",
      },
    ],
  },
  {
    name: "an object of the cluster has no namespace",
    steps: [
      post(zones, {
        apiVersion: "conformance.example.org/v1",
        kind: "Zone",
        metadata: { name: "$(namespace)" },
        spec: { region: "north" },
      }),
      get(`${zones}/$(namespace)`),
      remove(`${zones}/$(namespace)`),
    ],
  },
  {
    name: "the namespace of an object comes from the path",
    steps: [
      post(widgets, widget("a")),
      post(widgets, widget("b", { color: "red" }, { namespace: "$(namespace)" })),
    ],
  },
  {
    name: "text of a secret becomes data",
    steps: [
      post(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
        data: { one: "b25l" },
        stringData: { two: "two" },
      }),
      get(`${secrets}/a`),
    ],
  },
  {
    name: "a delete of a collection deletes what the selector covers",
    steps: [
      post(configMaps, configMap("a", undefined, { labels: { app: "x" } })),
      post(configMaps, configMap("b", undefined, { labels: { app: "y" } })),
      post(configMaps, configMap("c", undefined, { labels: { app: "x" } })),
      remove(configMaps, undefined, { query: { labelSelector: "app=x" } }),
      get(configMaps),
    ],
  },
  {
    name: "a namespace is an object of the cluster",
    steps: [
      post(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "$(namespace)" } }),
      get(`${namespaces}/$(namespace)`),
      post(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "$(namespace)" } }),
    ],
    uncompared: [...typed("body.spec", "body.status"), UNGENERATED],
  },
  {
    name: "a dry run answers the object and stores nothing",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { query: { dryRun: "All" } }),
      get(`${configMaps}/a`),
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" }), { query: { dryRun: "All" } }),
      remove(`${configMaps}/a`, undefined, { query: { dryRun: "All" } }),
      get(`${configMaps}/a`),
      put(`${configMaps}/a`, configMap("a", { text: "two" }), { query: { dryRun: "Some" } }),
    ],
  },
  {
    name: "the parameters of a delete with a body are in the body alone",
    steps: [
      post(configMaps, configMap("a")),
      remove(`${configMaps}/a`, { dryRun: ["All"] }),
      get(`${configMaps}/a`),
      remove(`${configMaps}/a`, {}, { query: { dryRun: "All", propagationPolicy: "Foreground" } }),
      get(`${configMaps}/a`),
      post(configMaps, configMap("b")),
      remove(configMaps, { dryRun: ["All"] }),
      get(`${configMaps}/b`),
      remove(configMaps, {}, { query: { dryRun: "All" } }),
      get(`${configMaps}/b`),
    ],
  },
  {
    name: "a version that is no number is 500",
    steps: [
      post(configMaps, configMap("a")),
      post(widgets, widget("a")),
      put(`${configMaps}/a`, configMap("a", { text: "x" }, { resourceVersion: "abc" })),
      put(`${widgets}/a`, widget("a", { color: "red" }, { resourceVersion: "abc" })),
      mergePatch(`${widgets}/a`, { metadata: { resourceVersion: "-1" } }),
    ],
  },
  {
    name: "a built-in type drops unknown fields with a warning, and refuses them if asked to",
    steps: [
      post(leases, {
        ...lease("a", { holderIdentity: "x", nothing: 1 }),
        extra: {},
        metadata: { name: "a", foo: 1 },
      }),
      post(leases, lease("b", { nothing: 1 }), { query: { fieldValidation: "Strict" } }),
      post(leases, lease("c", { nothing: 1 }), { query: { fieldValidation: "Ignore" } }),
      post(configMaps, { ...configMap("a"), Data: { text: "x" } }),
      mergePatch(`${leases}/a`, { spec: { nothing: 2 } }),
    ],
    uncompared: [UNGENERATED, ...typed("body.spec")],
  },
  {
    name: "a field of a built-in type with a value of another type is 400",
    steps: [
      post(leases, lease("a", { leaseDurationSeconds: "15" })),
      post(leases, lease("a", { leaseDurationSeconds: 1.5 })),
      post(leases, lease("a", { leaseDurationSeconds: 2_147_483_648 })),
      post(leases, lease("a", { holderIdentity: 1 })),
      post(leases, { ...lease("a"), spec: "x" }),
      post(configMaps, { ...configMap("a"), immutable: "yes" }),
      post(configMaps, configMap("a", undefined, { labels: { app: 1 } })),
    ],
  },
  {
    name: "empty maps of a ConfigMap are left out",
    steps: [
      post(configMaps, { ...configMap("a", {}), binaryData: {}, immutable: false }),
      put(`${configMaps}/a`, configMap("a", { text: "x" })),
      mergePatch(`${configMaps}/a`, { data: { text: null } }),
      get(`${configMaps}/a`),
    ],
  },
];

function lease(name: string, spec: object = {}): object {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
}
