import { FakeClock } from "@holdfast/clock/testing";
import type { RunOptions } from "@holdfast/controller";
import * as root from "@holdfast/kubernetes";
import {
  builtIn,
  Cluster,
  type ClusterOptions,
  customResource,
  EventRecorder,
  type EventRecorderOptions,
  type FinalizeOptions,
  finalize,
  fromCrd,
  HealthServer,
  type HealthServerOptions,
  type KubeObject,
  keyOf,
  LeaseLock,
  type LeaseLockOptions,
  metadataOf,
  type OperatorOptions,
  type OwnerOfOptions,
  ownConditions,
  ownerOf,
  ownerReference,
  type RemoveFinalizerOptions,
  removeFinalizer,
  runOperator,
  setCondition,
} from "@holdfast/kubernetes";
import * as prometheus from "@holdfast/kubernetes/prometheus";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { expect } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";

const { all, constructs, method, rejects, required, text, throws } = kinds;

const clock = new FakeClock();
const { signal: live } = new AbortController();
const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};
const transport = { description: "none", send: f };
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const ann = { metadata: { namespace: "default", name: "ann" } };
const stored = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...ann.metadata, uid: "1", resourceVersion: "1", creationTimestamp: "" },
};

const isClock = kinds.methods("monotonic", "newTimer", "afterFunc", "sleep");
const isLogger = kinds.methods("debug", "info", "warn", "error");
const isMetrics = kinds.methods("requested", "listed", "watchEnded", "rejected", "applySkipped");
const isObject = kinds.anyObject;
const hasNoMore = kinds.object({});
const isResource = all(isObject, kinds.fields({ kind: text, plural: text }));

/** A word that must be one of the given kind of name. */
const name = (kind: string, ...bad: readonly string[]): kinds.Kind =>
  all(text, (path) =>
    bad.map((value) => ({
      path,
      value,
      error: `RangeError: ${path} must be ${kind}, got ${JSON.stringify(value)}`,
    })),
  );
const LABEL = "a namespace: at most 63 of a-z, 0-9 and -, no - at either end";
const dnsLabel = name(LABEL, "..", "a/b", "A", "a".repeat(64));
const segment = name(
  'a name: at most 253 characters, no "/" and no "%", not "." or ".."',
  "..",
  "a/b",
  "a%2fb",
);

const cluster = new Cluster({ transport, clock });
const client = { get: f, list: f, find: f, create: f, update: f, patch: f };
const recorder = new EventRecorder({ client, controller: "a", clock } as never);
const server = new HealthServer();
const informer = cluster.watch(ConfigMap);
const metrics = Object.fromEntries(
  [
    "requested",
    "listed",
    "watchEnded",
    "rejected",
    "applySkipped",
    "controller",
    "queue",
    "leadership",
    "shards",
    "informers",
  ].map((each) => [each, f]),
);
const operator = { name: "a", transport, setup: f, leaderElection: false, health: false } as const;

const runOptions = [
  "options",
  kinds.object<RunOptions>({
    ref: kinds.flag,
    leadership: kinds.unchecked,
    shards: kinds.unchecked,
    stopWithin: kinds.unchecked,
  }),
] as const;

const objectDoors = [
  throws(builtIn, ["v1", "ConfigMap"], ["apiVersion", required(text)], ["kind", required(text)]),
  throws(
    customResource,
    [{ apiVersion: "a.b/v1", kind: "A", plural: "as" }],
    [
      "options",
      all(
        hasNoMore,
        () => kinds.named("apiVersion", text)("", undefined).map(inOptions("apiVersion")),
        () => kinds.named("kind", text)("", undefined).map(inOptions("kind")),
        () => kinds.named("plural", text)("", undefined).map(inOptions("plural")),
      ),
    ],
  ),
  throws(fromCrd, [{}, "v1"], ["crd", isObject], ["version", kinds.unchecked]),
  throws(metadataOf, [ConfigMap], ["resource", required(isResource)]),
  throws(keyOf, [ann], ["object", required(isObject)]),
  throws(
    ownerOf,
    [ConfigMap, {}],
    ["resource", required(isResource)],
    ["options", kinds.object<OwnerOfOptions>({ everyOwner: kinds.flag })],
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
  method(gibibyte, "add", "throws", ["1"], ["other", quantity]),
  method(gibibyte, "subtract", "throws", ["1"], ["other", quantity]),
  method(gibibyte, "compare", "throws", ["1"], ["other", quantity]),
];

/** Puts the bad value of an option among valid ones. */
function inOptions(option: string) {
  return <M extends { value: unknown }>(mistake: M): M => ({
    ...mistake,
    value: { apiVersion: "a.b/v1", kind: "A", plural: "as", [option]: mistake.value },
  });
}

const clusterDoors = [
  constructs(
    Cluster,
    [{ transport }],
    [
      "options",
      required(
        kinds.object<ClusterOptions>({
          transport: required(kinds.methods("send")),
          name: text,
          fieldManager: text,
          clock: kinds.methods("now", "monotonic", "newTimer", "afterFunc", "sleep"),
          random: kinds.func,
          logger: isLogger,
          metrics: isMetrics,
          backoff: kinds.methods("delayFunc"),
          idleTimeout: kinds.above(0),
          pageSize: kinds.outside("a number from 1 to 10000", 0, 10_001),
          relistEvery: kinds.above(0),
        }),
      ),
    ],
  ),
  method(
    cluster,
    "watch",
    "throws",
    [ConfigMap, {}],
    ["resource", required(isResource)],
    [
      "options",
      kinds.object({
        transform: kinds.func,
        metadataOnly: kinds.flag,
        namespaces: kinds.arrayOf(kinds.unchecked),
      }),
    ],
  ),
  method(cluster, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  method(cluster, "ready", "throws", [live], ["signal", required(kinds.signal)]),
  method(cluster, "catchUp", "rejects", [live], ["signal", required(kinds.signal)]),
  method(
    informer,
    "source",
    "throws",
    [{}],
    ["options", kinds.object({ when: kinds.func, to: kinds.func })],
  ),
];

const helperDoors = [
  constructs(
    LeaseLock,
    [{ client, namespace: "a", name: "a" } as never],
    [
      "options",
      required(
        kinds.object<LeaseLockOptions>({
          client: required(kinds.methods("get", "list", "create", "update")),
          namespace: required(dnsLabel),
          name: required(segment),
          leaseDuration: kinds.positive,
          clock: isClock,
        }),
      ),
    ],
  ),
  constructs(
    EventRecorder,
    [{ client, controller: "a" } as never],
    [
      "options",
      required(
        kinds.object<EventRecorderOptions>({
          client: required(kinds.methods("create", "patch")),
          controller: required(text),
          instance: text,
          name: text,
          clock: isClock,
          random: kinds.func,
          logger: isLogger,
        }),
      ),
    ],
  ),
  method(recorder, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  rejects(
    finalize,
    [client as never, ConfigMap, stored, { finalizer: "example.org/a", apply: f, cleanup: f }],
    ["client", required(kinds.methods("find", "patch"))],
    ["resource", required(isResource)],
    ["object", required(kinds.data({ metadata: required(kinds.data({ uid: required(text) })) }))],
    [
      "options",
      required(
        kinds.object<FinalizeOptions<KubeObject>>({
          finalizer: required(name('a finalizer such as "example.org/cleanup"', "a", "a/", "A/a")),
          apply: required(kinds.func),
          cleanup: required(kinds.func),
          // The client checks these.
          signal: kinds.unchecked,
          timeout: kinds.unchecked,
          fieldManager: kinds.unchecked,
        }),
      ),
    ],
  ),
  rejects(
    removeFinalizer,
    [client as never, ConfigMap, stored, { finalizer: "example.org/a" }],
    ["client", required(kinds.methods("find", "patch"))],
    ["resource", required(isResource)],
    ["object", required(kinds.data({ metadata: required(kinds.data({ uid: required(text) })) }))],
    [
      "options",
      required(
        kinds.object<RemoveFinalizerOptions>({
          finalizer: required(name('a finalizer such as "example.org/cleanup"', "a", "a/", "A/a")),
          signal: kinds.unchecked,
          timeout: kinds.unchecked,
          fieldManager: kinds.unchecked,
        }),
      ),
    ],
  ),
  throws(
    setCondition,
    [[], { type: "Ready", status: "True", reason: "Because" }, clock],
    ["conditions", kinds.unchecked],
    ["condition", required(kinds.data({ type: required(text), reason: required(text) }))],
    ["clock", isClock],
  ),
  throws(
    ownConditions,
    [[], [{ type: "Ready", status: "True", reason: "Because" }], clock],
    ["conditions", kinds.unchecked],
    ["own", kinds.unchecked],
    ["clock", isClock],
  ),
];

const operatorDoors = [
  constructs(
    HealthServer,
    [{}],
    [
      "options",
      kinds.object<HealthServerOptions>({
        name: text,
        port: all(
          kinds.outside("a whole number of at least 0", -1, 1.5),
          kinds.outside("a number from 0 to 65535", 65_536),
        ),
        host: text,
        live: isObject,
        ready: isObject,
        metrics: kinds.func,
        logger: isLogger,
      }),
    ],
  ),
  method(server, "run", "rejects", [live], ["signal", required(kinds.signal)], runOptions),
  rejects(
    runOperator,
    [operator, live],
    [
      "options",
      required(
        kinds.object<OperatorOptions>({
          name: required(dnsLabel),
          transport: required(kinds.methods("send")),
          setup: required(kinds.func),
          leaderElection: hasNoMore,
          shards: hasNoMore,
          health: hasNoMore,
          cluster: hasNoMore,
          compareCrds: kinds.flag,
          signals: kinds.methods("on", "off", "exit"),
          identity: text,
          clock: isClock,
          random: kinds.func,
          logger: isLogger,
          metrics: kinds.methods("requested", ...Object.keys(metrics).slice(1)),
        }),
      ),
    ],
    ["signal", kinds.signal],
  ),
  throws(
    prometheusMetrics,
    [{ register: new Registry() }],
    [
      "options",
      kinds.object({
        register: kinds.methods("registerMetric", "metrics"),
        controllers: kinds.methods("controller", "queue", "leadership", "shards"),
      }),
    ],
  ),
];

const apiErrorDoor = constructs(
  root.ApiError,
  [{ statusCode: 404, reason: "", message: "gone", details: {}, method: "GET", path: "/a" }],
  [
    "options",
    required(
      kinds.object<root.ApiErrorOptions>({
        statusCode: kinds.unchecked,
        reason: kinds.unchecked,
        message: required(kinds.string),
        details: kinds.unchecked,
        retryAfter: kinds.unchecked,
        date: kinds.unchecked,
        method: kinds.unchecked,
        path: kinds.unchecked,
      }),
    ),
  ],
);

const doors = [
  apiErrorDoor,
  ...objectDoors,
  ...quantityDoors,
  ...clusterDoors,
  ...helperDoors,
  ...operatorDoors,
];

kinds.testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
  expect(cluster.status().state).toBe("idle");
});

kinds.testEveryExport(new URL("../api/", import.meta.url), { index: root, prometheus }, doors, [
  // In client/bad-input.test.ts and transport/bad-input.test.ts.
  ...[root.KubeClient, root.ensureCrd],
  ...[root.atUrl, root.inCluster, root.fromKubeConfig, root.fromKubectl],
  // A kubeconfig is made by others; a controller of an operator is a Controller.
  ...["KubeConfigLike.applyToHTTPSOptions", "OperatorContext.controller"],
  // The guards answer for every value; the errors and the predicate take what the package makes.
  ...[root.isApiError, root.ConnectionError, root.BodyTooLongError],
  root.generationChanged,
]);
