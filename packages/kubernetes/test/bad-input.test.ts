import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import * as root from "@holdfast/kubernetes";
import * as opentelemetry from "@holdfast/kubernetes/opentelemetry";
import * as prometheus from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { expect } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";
import { own } from "./option-kinds.ts";

const { all, data, f, fields, refuses, required, text } = kinds;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const transport = { description: "none", namespace: "default", send: f };
const ConfigMap = root.builtIn<root.KubeObject>("v1", "ConfigMap");
const ann = { metadata: { namespace: "default", name: "ann" } };
const metadata = { ...ann.metadata, uid: "1", resourceVersion: "1", creationTimestamp: "" };
const stored = { apiVersion: "v1", kind: "ConfigMap", metadata };
const spec = { type: "object", properties: { a: { type: "string" } } };
const named = { group: "example.org", kind: "Task", plural: "tasks", storage: "v1" } as const;
const versions = { v1: { spec }, v2: { spec } };
const Versioned = root.customResource({ ...named, versions });
const convert = { v2: { toHub: f, fromHub: f } };
const versioned = { ...named, versions, convert, service: { name: "a", namespace: "a" } };
const schema = {
  ...{ spec, rules: [{ rule: "true" }], columns: [{ name: "a", path: ".spec.a" }] },
  scale: { replicas: ".spec.a", status: ".spec.a", selector: ".spec.a" },
};

const client = new root.KubeClient({ transport, clock });
const cluster = new root.Cluster({ transport, clock });
const recorder = new root.EventRecorder({ client, controller: "a", clock } as never);
const server = new root.HealthServer();
const informer = cluster.watch(ConfigMap);
const gibibyte = new root.Quantity("1Gi");
const webhook = root.validating(ConfigMap, { handle: f });
const webhooks = { service: "a", hooks: [webhook] };
const operator = { name: "a", transport, setup: f } as const;
const recorded = { ...operator, recording: { directory: "a" } };
const leases = { namespace: "a" };
const finalized = [client, ConfigMap, stored];
const ready = { type: "Ready", status: "True", reason: "Because" };

const QUANTITY = 'value must be a quantity such as "100m" or "1.5Gi", got';
const ofDoors = {
  ...own,
  resource: all(kinds.anyObject, fields({ kind: text, plural: text })),
  objectWithUid: data({ metadata: required(data({ uid: required(text) })) }),
  condition: data({ type: required(text), reason: required(text) }),
  quantity: all(
    refuses(`TypeError: ${QUANTITY} object`, null, {}),
    refuses(`TypeError: ${QUANTITY} undefined`, undefined),
    refuses(`TypeError: ${QUANTITY} boolean`, true),
    refuses(`RangeError: ${QUANTITY} GOT`, "", "1 Gi"),
  ),
  keptPath: refuses(
    'RangeError: PATH must be a path below .spec or .status and not below a list, such as ".spec.retries", got GOT',
    ...[null, 5, "spec.a", ".spec", ".spec.a[].b"],
  ),
  reviewed: all(
    refuses("TypeError: PATH must be that of an AdmissionReview", null, undefined, 5),
    refuses("TypeError: PATH must have uid and operation, two strings", {}),
  ),
  caller: fields({ signal: required(kinds.signal) }),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, options, rejects, throws } = await kinds.doorsOf(sources, ofDoors);
const ofCluster = await kinds.doorsOf(new URL("cluster/", sources), ofDoors);
const ofClient = await kinds.doorsOf(new URL("client/", sources), ofDoors);

/** Kinds of options whose errors name no options. */
const bare = (texts: Readonly<Record<string, string>>): Record<string, kinds.Kind> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, kind]) => [name, (_, valid) => options(kind)(name, valid)]),
  );
const scope = refuses('RangeError: scope must be "Namespaced" or "Cluster", got "All"', "All");
const aVersion = (name: string, ...bad: readonly unknown[]): kinds.Kind =>
  refuses(`RangeError: ${name} must be one of the versions (v1, v2), got GOT`, ...bad);
const parts = {
  rules: "VALIDATION_RULE[]",
  columns: "PRINTER_COLUMN[]",
  scale: "SCALE_PATHS",
  selectable: "anything[]",
};
const names = { kind: "text", plural: "text", shortNames: "anything[]", categories: "anything[]" };

const running = "signal: abortSignal, options?: RUN_OPTIONS";
const ofObject = "resource: resource, ref: anything, options?:";
const writing = "resource: resource, object: anyObject, options?:";

const doors = [
  constructs(
    root.ApiError,
    [{ status: 404, reason: "", message: "gone", details: {}, method: "GET", path: "/a" }],
    "options: API_ERROR_OPTIONS",
  ),
  throws(root.builtIn, ["v1", "ConfigMap"], "apiVersion: text, kind: text"),
  throws(
    root.customResource,
    [{ apiVersion: "a.b/v1", kind: "A", plural: "as", ...schema }],
    "options?: CUSTOM_RESOURCE_OPTIONS",
    { ...bare({ ...names, ...parts, apiVersion: "text", conditions: "flag" }), scope },
  ),
  throws(root.customResource, [versioned], "options?: VERSIONED_RESOURCE_OPTIONS", {
    ...bare({ ...names, group: "text", versions: "anyObject", convert: "anyObject" }),
    ...bare({ service: "CONVERSION_SERVICE" }),
    ...{ scope, storage: aVersion("storage", "v9", null), hub: aVersion("hub", "v9") },
  }),
  throws(
    function customResourceVersion(v1: object) {
      return root.customResource({ ...versioned, versions: { ...versions, v1 } } as never);
    },
    [schema],
    "versions.v1?: VERSION_OPTIONS",
    parts,
  ),
  throws(
    function customResourceConversion(v2: object) {
      return root.customResource({ ...versioned, convert: { v2 } } as never);
    },
    [convert.v2],
    "convert.v2?: VERSION_CONVERSION",
  ),
  throws(root.keepInAnnotation, [".spec.a"], "paths[0]: keptPath"),
  throws(
    root.migrateStorage,
    [Versioned, { client, clock, logger: silentLogger, metrics: {} }, { retire: ["v2"] }],
    "resource: anyObject, context: anyObject, options?: MIGRATE_STORAGE_OPTIONS",
    { versionNames: "anything[]" },
  ),
  throws(root.fromCrd, [{}, "v1"], "crd?: anyObject, version: anything"),
  throws(root.metadataOf, [ConfigMap], "resource: resource"),
  throws(root.keyOf, [ann], "object: anyObject"),
  throws(root.ownerOf, [ConfigMap, {}], "resource: resource, options?: OWNER_OF_OPTIONS"),
  throws(root.ownerReference, [ConfigMap, stored], "resource: resource, object: anyObject"),

  constructs(root.Quantity, ["1Gi"], "value?: quantity"),
  ...(["add", "subtract", "compare"] as const).map((name) =>
    method(gibibyte, name, "throws", ["1"], "value?: quantity"),
  ),

  constructs(root.Cluster, [{ transport }], "options: CLUSTER_OPTIONS"),
  ofCluster.method(
    cluster,
    "watch",
    "throws",
    [ConfigMap, {}],
    "resource: resource, options?: WATCH_OPTIONS",
    { labels: "anything", fields: "anything" },
  ),
  method(cluster, "run", "rejects", [live], running),
  method(cluster, "ready", "throws", [live], "signal: abortSignal"),
  method(cluster, "catchUp", "rejects", [live], "signal: abortSignal"),
  method(informer, "source", "throws", [{}], "options?: INFORMER_SOURCE_OPTIONS"),

  constructs(
    root.LeaseLock,
    [{ client, namespace: "a", name: "a" }],
    "options: LEASE_LOCK_OPTIONS",
  ),
  constructs(root.EventRecorder, [{ client, controller: "a" }], "options: EVENT_RECORDER_OPTIONS"),
  method(recorder, "run", "rejects", [live], running),
  rejects(
    root.finalize,
    [...finalized, { finalizer: "example.org/a", apply: f, cleanup: f }],
    "client: methods(find, patch), resource: resource, object: objectWithUid, options: FINALIZE_OPTIONS",
  ),
  rejects(
    root.removeFinalizer,
    [...finalized, { finalizer: "example.org/a" }],
    "client: methods(find, patch), resource: resource, object: objectWithUid, options: REMOVE_FINALIZER_OPTIONS",
  ),
  throws(
    root.setCondition,
    [[], ready, clock],
    "conditions: anything, condition: condition, clock?: loopClock",
  ),
  throws(
    root.ownConditions,
    [[], [ready], clock],
    "conditions: anything, own: anything, clock?: loopClock",
  ),

  throws(
    root.validating,
    [ConfigMap, { handle: f }],
    "resource: resource, options: VALIDATING_OPTIONS",
  ),
  throws(
    root.mutating,
    [ConfigMap, { handle: f }],
    "resource: resource, options: MUTATING_OPTIONS",
  ),
  method(
    webhook,
    "review",
    "rejects",
    [{ uid: "1", operation: "CREATE" }, { signal: live }],
    "request?: reviewed, caller?: caller",
  ),

  constructs(root.HealthServer, [{}], "options?: HEALTH_SERVER_OPTIONS"),
  method(server, "run", "rejects", [live], running),
  rejects(
    root.runOperator,
    [{ ...operator, leaderElection: leases, webhooks }, live],
    "options: OPERATOR_OPTIONS, signal?: abortSignal",
    // A recording excludes webhooks.
    {
      leaderElection: "OPERATOR_ELECTION_OPTIONS",
      shards: kinds.object({}),
      recording: "anything",
    },
  ),
  rejects(
    root.runOperator,
    [{ ...operator, shards: leases, webhooks }, live],
    "options?: OPERATOR_OPTIONS, signal?: abortSignal",
    { leaderElection: "anything", shards: "OPERATOR_SHARDS_OPTIONS", recording: "anything" },
  ),
  rejects(root.runOperator, [recorded, live], "options?: recorded, signal?: abortSignal", {
    recorded: all(
      fields({ recording: own.recording }),
      refuses(
        "RangeError: options.recording must be undefined beside options.webhooks, whose reviews and keys pass no seam of a recording: run the webhooks as an operator of their own",
        {
          ...recorded,
          webhooks,
        },
      ),
    ),
  }),
  throws(
    prometheus.prometheusMetrics,
    [{ register: new Registry() }],
    "options?: OPERATOR_PROMETHEUS_OPTIONS",
  ),
  throws(
    opentelemetry.openTelemetryMetrics,
    [{ meter: newMeter().meter }],
    "options: OPERATOR_OPEN_TELEMETRY_OPTIONS",
  ),

  constructs(root.KubeClient, [{ transport }], "options: KUBE_CLIENT_OPTIONS"),
  ...(["get", "find"] as const).map((name) =>
    method(client, name, "rejects", [ConfigMap, "a/b", {}], `${ofObject} READ_OPTIONS`),
  ),
  method(client, "list", "throws", [ConfigMap, {}], "resource: resource, options?: LIST_OPTIONS"),
  ofClient.method(
    client,
    "watch",
    "throws",
    [ConfigMap, {}],
    "resource: resource, options?: WATCH_OPTIONS",
  ),
  method(client, "create", "rejects", [ConfigMap, ann, {}], `${writing} WRITE_OPTIONS`),
  method(client, "update", "rejects", [ConfigMap, stored, {}], `${writing} WRITE_OPTIONS`),
  method(client, "apply", "rejects", [ConfigMap, ann, {}], `${writing} APPLY_OPTIONS`),
  method(
    client,
    "patch",
    "rejects",
    [ConfigMap, "a/b", {}, {}],
    "resource: resource, ref: anything, patch: anyObject, options?: WRITE_OPTIONS",
  ),
  method(
    client,
    "modify",
    "rejects",
    [ConfigMap, "a/b", f, {}],
    "resource: resource, ref: anything, change: func, options?: WRITE_OPTIONS",
  ),
  method(
    client,
    "upgradeToApply",
    "rejects",
    [ConfigMap, "a/b", {}],
    `${ofObject} UPGRADE_OPTIONS`,
  ),
  method(client, "delete", "rejects", [ConfigMap, "a/b", {}], `${ofObject} DELETE_OPTIONS`),
  method(
    client,
    "deleteCollection",
    "rejects",
    [ConfigMap, {}],
    "resource: resource, options?: DELETE_COLLECTION_OPTIONS",
  ),
  method(client, "request", "rejects", [{ path: "/version" }], "options: REQUEST_OPTIONS"),
  rejects(
    root.ensureCrd,
    [client, Versioned.crd, {}],
    "client: methods(find, create, modify, list), crd: anyObject, options?: CALL_OPTIONS",
  ),

  throws(
    root.atUrl,
    ["http://a", { impersonate: { user: "ann" } }],
    "url: anything, options?: AT_URL_OPTIONS",
  ),
  throws(
    root.inCluster,
    [{ env: { KUBERNETES_SERVICE_HOST: "a" } }],
    "options?: IN_CLUSTER_OPTIONS",
  ),
  throws(
    root.fromKubeConfig,
    [{ getCurrentCluster: () => ({ server: "https://a" }), applyToHTTPSOptions: f }, {}],
    "config: methods(getCurrentCluster, applyToHTTPSOptions), options?: TRANSPORT_OPTIONS",
  ),
  throws(root.fromKubectl, [{ kubectl: "/nowhere/kubectl" }], "options?: FROM_KUBECTL_OPTIONS"),
];

kinds.testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
  expect(cluster.status().state).toBe("idle");
});

kinds.testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, opentelemetry, prometheus },
  doors,
  [
    // A kubeconfig is made by others; a controller of an operator is a Controller.
    ...["KubeConfigLike.applyToHTTPSOptions", "OperatorContext.controller"],
    // In the table of clock.
    root.findError,
    // The guards answer for every value; the errors and the predicate take what the package makes.
    ...[root.isApiError, root.ConnectionError, root.BodyTooLongError],
    root.generationChanged,
  ],
);
