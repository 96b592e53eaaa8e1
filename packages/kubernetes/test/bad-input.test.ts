import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { RECORDING_OPTIONS } from "@holdfast/controller/recording";
import * as root from "@holdfast/kubernetes";
import {
  builtIn,
  Cluster,
  customResource,
  EventRecorder,
  finalize,
  fromCrd,
  HealthServer,
  type KubeObject,
  keepInAnnotation,
  keyOf,
  LeaseLock,
  metadataOf,
  migrateStorage,
  mutating,
  ownConditions,
  ownerOf,
  ownerReference,
  removeFinalizer,
  runOperator,
  setCondition,
  validating,
} from "@holdfast/kubernetes";
import * as opentelemetry from "@holdfast/kubernetes/opentelemetry";
import { openTelemetryMetrics } from "@holdfast/kubernetes/opentelemetry";
import * as prometheus from "@holdfast/kubernetes/prometheus";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { expect } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";
import { API_ERROR_OPTIONS } from "../src/client/api-error.ts";
import { CLUSTER_OPTIONS } from "../src/cluster/cluster-options.ts";
import { INFORMER_SOURCE_OPTIONS } from "../src/cluster/informer-source.ts";
import { OWNER_OF_OPTIONS } from "../src/cluster/owners.ts";
import { WATCH_OPTIONS } from "../src/cluster/watch-options.ts";
import { LEASE_LOCK_OPTIONS } from "../src/election/lease-lock.ts";
import { EVENT_RECORDER_OPTIONS } from "../src/helper/event-recorder-options.ts";
import { FINALIZE_OPTIONS, REMOVE_FINALIZER_OPTIONS } from "../src/helper/finalize.ts";
import { MIGRATE_STORAGE_OPTIONS } from "../src/helper/migrate-storage.ts";
import { CUSTOM_RESOURCE_OPTIONS } from "../src/object/custom-resource.ts";
import {
  CONVERSION_SERVICE,
  VERSION_CONVERSION,
  VERSION_OPTIONS,
  VERSIONED_RESOURCE_OPTIONS,
} from "../src/object/versioned-resource.ts";
import { OPERATOR_OPEN_TELEMETRY_OPTIONS } from "../src/opentelemetry/open-telemetry-metrics.ts";
import { HEALTH_SERVER_OPTIONS } from "../src/operator/health-server.ts";
import {
  OPERATOR_ELECTION_OPTIONS,
  OPERATOR_OPTIONS,
  OPERATOR_SHARDS_OPTIONS,
} from "../src/operator/operator-options.ts";
import { OPERATOR_PROMETHEUS_OPTIONS } from "../src/prometheus/prometheus-metrics.ts";
import { RUN_OPTIONS } from "../src/run-ref.ts";
import { PRINTER_COLUMN, SCALE_PATHS, VALIDATION_RULE } from "../src/schema/crd.ts";
import { MUTATING_OPTIONS, VALIDATING_OPTIONS } from "../src/webhook/hook-options.ts";
import { options } from "./option-kinds.ts";

const { all, constructs, except, method, rejects, required, text, throws, unchecked } = kinds;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const transport = { description: "none", namespace: "default", send: f };
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const ann = { metadata: { namespace: "default", name: "ann" } };
const stored = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...ann.metadata, uid: "1", resourceVersion: "1", creationTimestamp: "" },
};

const spec = { type: "object", properties: { a: { type: "string" } } };
const versioned = {
  ...{ group: "example.org", kind: "Task", plural: "tasks", storage: "v1" },
  versions: { v1: { spec }, v2: { spec } },
  convert: { v2: { toHub: f, fromHub: f } },
  service: { name: "a", namespace: "a" },
} as const;
const Versioned = customResource({
  ...{ group: "example.org", kind: "Task", plural: "tasks", storage: "v1" },
  versions: { v1: { spec }, v2: { spec } },
});

const isObject = kinds.anyObject;
const isResource = all(isObject, kinds.fields({ kind: text, plural: text }));

const cluster = new Cluster({ transport, clock });
const client = { get: f, list: f, find: f, create: f, update: f, patch: f };
const recorder = new EventRecorder({ client, controller: "a", clock } as never);
const server = new HealthServer();
const informer = cluster.watch(ConfigMap);
const operator = { name: "a", transport, setup: f } as const;
const leases = { namespace: "a" };

const runOptions = ["options", options(RUN_OPTIONS)] as const;

const objectDoors = [
  throws(builtIn, ["v1", "ConfigMap"], ["apiVersion", required(text)], ["kind", required(text)]),
  throws(
    customResource,
    [
      {
        ...{ apiVersion: "a.b/v1", kind: "A", plural: "as" },
        ...{ rules: [{ rule: "true" }], columns: [{ name: "a", path: ".spec.a" }] },
        ...{ spec, scale: { replicas: ".spec.a", status: ".spec.a", selector: ".spec.a" } },
      },
    ],
    [
      "options",
      options(CUSTOM_RESOURCE_OPTIONS, {
        apiVersion: kinds.named("apiVersion", text),
        kind: kinds.named("kind", text),
        plural: kinds.named("plural", text),
        scope: except("All", 'RangeError: scope must be "Namespaced" or "Cluster", got "All"'),
        conditions: kinds.named("conditions", kinds.flag),
        rules: kinds.named("rules", kinds.arrayOf(options(VALIDATION_RULE))),
        columns: kinds.named("columns", kinds.arrayOf(options(PRINTER_COLUMN))),
        scale: kinds.named("scale", options(SCALE_PATHS)),
        selectable: kinds.named("selectable", kinds.arrayOf(unchecked)),
        shortNames: kinds.named("shortNames", kinds.arrayOf(unchecked)),
        categories: kinds.named("categories", kinds.arrayOf(unchecked)),
      }),
    ],
  ),
  throws(
    customResource,
    [versioned],
    [
      "options",
      options(VERSIONED_RESOURCE_OPTIONS, {
        group: kinds.named("group", text),
        kind: kinds.named("kind", text),
        plural: kinds.named("plural", text),
        scope: except("All", 'RangeError: scope must be "Namespaced" or "Cluster", got "All"'),
        shortNames: kinds.named("shortNames", kinds.arrayOf(unchecked)),
        categories: kinds.named("categories", kinds.arrayOf(unchecked)),
        versions: kinds.named("versions", isObject),
        storage: kinds.all(
          except("v9", 'RangeError: storage must be one of the versions (v1, v2), got "v9"'),
          except(null, "RangeError: storage must be one of the versions (v1, v2), got null"),
        ),
        hub: except("v9", 'RangeError: hub must be one of the versions (v1, v2), got "v9"'),
        convert: kinds.named("convert", isObject),
        service: kinds.named("service", options(CONVERSION_SERVICE)),
      }),
    ],
  ),
  throws(
    function customResourceVersion(v1: object) {
      return customResource({ ...versioned, versions: { ...versioned.versions, v1 } } as never);
    },
    [
      {
        spec,
        rules: [{ rule: "true" }],
        columns: [{ name: "a", path: ".spec.a" }],
        scale: { replicas: ".spec.a", status: ".spec.a", selector: ".spec.a" },
      },
    ],
    [
      "versions.v1",
      options(VERSION_OPTIONS, {
        rules: kinds.arrayOf(options(VALIDATION_RULE)),
        columns: kinds.arrayOf(options(PRINTER_COLUMN)),
        scale: options(SCALE_PATHS),
        selectable: kinds.arrayOf(unchecked),
      }),
    ],
  ),
  throws(
    function customResourceConversion(v2: object) {
      return customResource({ ...versioned, convert: { v2 } } as never);
    },
    [{ toHub: f, fromHub: f }],
    ["convert.v2", options(VERSION_CONVERSION)],
  ),
  throws(
    keepInAnnotation as (path: string) => unknown,
    [".spec.a"],
    [
      "paths[0]",
      required((path) =>
        [null, 5, "spec.a", ".spec", ".spec.a[].b"].map((value) => ({
          path,
          value,
          error: `RangeError: ${path} must be a path below .spec or .status and not below a list, such as ".spec.retries", got ${JSON.stringify(value)}`,
        })),
      ),
    ],
  ),
  throws(
    migrateStorage,
    [Versioned, { client, clock, logger: silentLogger, metrics: {} }, { retire: ["v2"] }],
    ["resource", required(isObject)],
    ["context", required(isObject)],
    ["options", options(MIGRATE_STORAGE_OPTIONS, { versionNames: kinds.arrayOf(unchecked) })],
  ),
  throws(fromCrd, [{}, "v1"], ["crd", isObject], ["version", kinds.unchecked]),
  throws(metadataOf, [ConfigMap], ["resource", required(isResource)]),
  throws(keyOf, [ann], ["object", required(isObject)]),
  throws(
    ownerOf,
    [ConfigMap, {}],
    ["resource", required(isResource)],
    ["options", options(OWNER_OF_OPTIONS)],
  ),
  throws(
    ownerReference,
    [ConfigMap, stored],
    ["resource", required(isResource)],
    ["object", required(isObject)],
  ),
];

const quantity: kinds.Kind = (path) =>
  [null, undefined, true, {}, "", "1 Gi"].map((value) => {
    const [kind, got] =
      typeof value === "string"
        ? ["RangeError", JSON.stringify(value)]
        : ["TypeError", typeof value];
    const error = `${kind}: value must be a quantity such as "100m" or "1.5Gi", got ${got}`;
    return { path, value, error };
  });
const gibibyte = new root.Quantity("1Gi");
const quantityDoors = [
  constructs(root.Quantity, ["1Gi"], ["value", quantity]),
  method(gibibyte, "add", "throws", ["1"], ["other", kinds.named("value", quantity)]),
  method(gibibyte, "subtract", "throws", ["1"], ["other", kinds.named("value", quantity)]),
  method(gibibyte, "compare", "throws", ["1"], ["other", kinds.named("value", quantity)]),
];

const clusterDoors = [
  constructs(Cluster, [{ transport }], ["options", required(options(CLUSTER_OPTIONS))]),
  method(
    cluster,
    "watch",
    "throws",
    [ConfigMap, {}],
    ["resource", required(isResource)],
    ["options", options(WATCH_OPTIONS, { labels: unchecked, fields: unchecked })],
  ),
  method(cluster, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  method(cluster, "ready", "throws", [live], ["signal", required(kinds.signal)]),
  method(cluster, "catchUp", "rejects", [live], ["signal", required(kinds.signal)]),
  method(informer, "source", "throws", [{}], ["options", options(INFORMER_SOURCE_OPTIONS)]),
];

const helperDoors = [
  constructs(
    LeaseLock,
    [{ client, namespace: "a", name: "a" } as never],
    ["options", required(options(LEASE_LOCK_OPTIONS))],
  ),
  constructs(
    EventRecorder,
    [{ client, controller: "a" } as never],
    ["options", required(options(EVENT_RECORDER_OPTIONS))],
  ),
  method(recorder, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  rejects(
    finalize,
    [client as never, ConfigMap, stored, { finalizer: "example.org/a", apply: f, cleanup: f }],
    ["client", required(kinds.methods("find", "patch"))],
    ["resource", required(isResource)],
    ["object", required(kinds.data({ metadata: required(kinds.data({ uid: required(text) })) }))],
    ["options", required(options(FINALIZE_OPTIONS))],
  ),
  rejects(
    removeFinalizer,
    [client as never, ConfigMap, stored, { finalizer: "example.org/a" }],
    ["client", required(kinds.methods("find", "patch"))],
    ["resource", required(isResource)],
    ["object", required(kinds.data({ metadata: required(kinds.data({ uid: required(text) })) }))],
    ["options", required(options(REMOVE_FINALIZER_OPTIONS))],
  ),
  throws(
    setCondition,
    [[], { type: "Ready", status: "True", reason: "Because" }, clock],
    ["conditions", kinds.unchecked],
    ["condition", required(kinds.data({ type: required(text), reason: required(text) }))],
    ["clock", kinds.methods("monotonic", "newTimer", "afterFunc", "sleep")],
  ),
  throws(
    ownConditions,
    [[], [{ type: "Ready", status: "True", reason: "Because" }], clock],
    ["conditions", kinds.unchecked],
    ["own", kinds.unchecked],
    ["clock", kinds.methods("monotonic", "newTimer", "afterFunc", "sleep")],
  ),
];

const webhook = validating(ConfigMap, { handle: f });
const webhooks = { service: "a", hooks: [webhook] };
const reviewed: kinds.Kind = (path) =>
  [null, undefined, 5, {}].map((value) => {
    const must =
      value?.constructor === Object
        ? "have uid and operation, two strings"
        : "be that of an AdmissionReview";
    return { path, value, error: `TypeError: ${path} must ${must}` };
  });
const webhookDoors = [
  throws(
    validating,
    [ConfigMap, { handle: f }],
    ["resource", required(isResource)],
    ["options", required(options(VALIDATING_OPTIONS))],
  ),
  throws(
    mutating,
    [ConfigMap, { handle: f }],
    ["resource", required(isResource)],
    ["options", required(options(MUTATING_OPTIONS))],
  ),
  method(
    webhook,
    "review",
    "rejects",
    [{ uid: "1", operation: "CREATE" }, { signal: live }],
    ["request", reviewed],
    ["caller", kinds.fields({ signal: required(kinds.signal) })],
  ),
];

const operatorDoors = [
  constructs(HealthServer, [{}], ["options", options(HEALTH_SERVER_OPTIONS)]),
  method(server, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  rejects(
    runOperator,
    [{ ...operator, leaderElection: leases, webhooks }, live],
    [
      "options",
      required(
        options(OPERATOR_OPTIONS, {
          leaderElection: options(OPERATOR_ELECTION_OPTIONS),
          shards: kinds.object({}),
          recording: unchecked, // excludes webhooks
        }),
      ),
    ],
    ["signal", kinds.signal],
  ),
  rejects(
    runOperator,
    [{ ...operator, shards: leases, webhooks }, live],
    [
      "options",
      options(OPERATOR_OPTIONS, {
        leaderElection: unchecked,
        shards: options(OPERATOR_SHARDS_OPTIONS),
        recording: unchecked,
      }),
    ],
    ["signal", kinds.signal],
  ),
  rejects(
    runOperator,
    [{ ...operator, recording: { directory: "a" } }, live],
    [
      "options",
      all(
        kinds.fields({ recording: options(RECORDING_OPTIONS) }),
        kinds.except(
          { ...operator, recording: { directory: "a" }, webhooks },
          "RangeError: options.recording must be undefined beside options.webhooks",
        ),
      ),
    ],
    ["signal", kinds.signal],
  ),
  throws(
    prometheusMetrics,
    [{ register: new Registry() }],
    ["options", options(OPERATOR_PROMETHEUS_OPTIONS)],
  ),
  throws(
    openTelemetryMetrics,
    [{ meter: newMeter().meter }],
    ["options", required(options(OPERATOR_OPEN_TELEMETRY_OPTIONS))],
  ),
];

const apiErrorDoor = constructs(
  root.ApiError,
  [{ status: 404, reason: "", message: "gone", details: {}, method: "GET", path: "/a" }],
  ["options", required(options(API_ERROR_OPTIONS))],
);

const doors = [
  apiErrorDoor,
  ...objectDoors,
  ...quantityDoors,
  ...clusterDoors,
  ...helperDoors,
  ...webhookDoors,
  ...operatorDoors,
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
    // In client/bad-input.test.ts and transport/bad-input.test.ts.
    ...[root.KubeClient, root.ensureCrd],
    ...[root.atUrl, root.inCluster, root.fromKubeConfig, root.fromKubectl],
    // A kubeconfig is made by others; a controller of an operator is a Controller.
    ...["KubeConfigLike.applyToHTTPSOptions", "OperatorContext.controller"],
    // In the table of clock.
    root.findError,
    // The guards answer for every value; the errors and the predicate take what the package makes.
    ...[root.isApiError, root.ConnectionError, root.BodyTooLongError],
    root.generationChanged,
  ],
);
