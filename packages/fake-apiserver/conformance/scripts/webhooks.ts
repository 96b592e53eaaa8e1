import { paths } from "../resources.ts";
import type { Script, ScriptWebhook, Uncompared } from "../script.ts";
import {
  apply,
  configMap,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  remove,
  typed,
  UNGENERATED,
  widget,
} from "../steps.ts";

const { configMaps, widgets, leases, namespaces } = paths;
const A = `${widgets}/a`;
const MAP = `${configMaps}/a`;
const SCALINGS = "/apis/tables.example.org/v1/namespaces/$(namespace)/scalings";
const versions = (name: string) =>
  `/apis/tables.example.org/${name}/namespaces/$(namespace)/versions`;

const VERSION = {
  apiVersion: "tables.example.org/v1",
  kind: "Version",
  metadata: { name: "a" },
  spec: { both: "x" },
};

type Fields = Readonly<Record<string, unknown>>;
type Answer = ScriptWebhook["answer"];

const rule = (resources: readonly string[], more: Fields = {}) => ({
  apiGroups: ["*"],
  apiVersions: ["*"],
  operations: ["*"],
  resources,
  ...more,
});
const ALL = [rule(["widgets", "configmaps", "versions", "scalings", "leases"])];

const hook =
  (type: "mutating" | "validating") =>
  (name: string, answer: Answer, { fault, times, ...more }: Fields = {}): ScriptWebhook => ({
    configuration: { type, name: `${name}.example.org`, rules: ALL, timeoutSeconds: 5, ...more },
    answer,
    ...(fault !== undefined && { fault: fault as NonNullable<ScriptWebhook["fault"]> }),
    ...(times !== undefined && { times: times as number }),
  });
const mutating = hook("mutating");
const validating = hook("validating");

const allow: Answer = () => ({ allowed: true });
const deny =
  (status?: object, more: object = {}): Answer =>
  () => ({ allowed: false, ...(status && { status }), ...more });
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
const patchWith =
  (...operations: readonly object[]): Answer =>
  () => ({ allowed: true, patchType: "JSONPatch", patch: encoded(operations) });
const label =
  (name: string): Answer =>
  (request) => {
    const { labels } = (request["object"] as { metadata: { labels?: object } }).metadata;
    const whole = { op: "add", path: "/metadata/labels", value: { [name]: "1" } };
    const one = { op: "add", path: `/metadata/labels/${name}`, value: "1" };
    return patchWith(labels === undefined ? whole : one)(request);
  };
/** A fault of the fake server answers in place of the webhook. */
const FAULT: readonly Uncompared[] = [
  { path: "*.reviews", reason: "a fault answers in place of the webhook", on: "fake" },
  { path: "*.body.metadata.uid", reason: "reviews count uids too", on: "fake" },
];
/** A field of the spec that the stored version lacks. */
const unstored = (field: string): Uncompared => ({
  path: `*.reviews.*.request.object.spec.${field}`,
  reason: "a server shows later webhooks a field that it does not store",
  on: "fake",
});
/** Asked about updates alone. */
const UPDATES = { rules: [rule(["widgets", "configmaps"], { operations: ["UPDATE"] })] };
const both = (more: Fields = {}) => [mutating("m", allow, more), validating("v", allow, more)];
const red = (spec: object = {}, metadata: Fields = {}) =>
  widget("a", { color: "red", ...spec }, metadata);

/** A webhook that fails, with each policy: the name says which is asked about which object. */
const failing = (type: typeof mutating, answer: Answer, more: Fields = {}) =>
  ["Fail", "Ignore"].map((failurePolicy) =>
    type(failurePolicy.toLowerCase(), answer, {
      ...more,
      failurePolicy,
      matchConditions: [
        { name: "name", expression: `object.metadata.name == '${failurePolicy.toLowerCase()}'` },
      ],
    }),
  );
const bothPolicies = ["fail", "ignore"].map((name) => post(widgets, widget(name)));

const badAnswers: readonly (readonly [string, Answer])[] = [
  ["a patch without its type", () => ({ allowed: true, patch: encoded([]) })],
  ["a type without a patch", () => ({ allowed: true, patchType: "JSONPatch" })],
  ["a patch of another type", () => ({ allowed: true, patchType: "Other", patch: encoded([]) })],
  ["another uid", () => ({ allowed: true, uid: "other" })],
];

const statuses = [301, 400, 404, 418, 429, 500, 503];

const denials: readonly (readonly [string, object | undefined])[] = [
  ["nothing", undefined],
  ["a message", { message: "not so" }],
  ["a reason", { reason: "Conflict" }],
  ["a code", { code: 418, message: "a pot", reason: "Teapot" }],
  ["a code of success", { code: 200, message: "well", status: "Success" }],
  [
    "causes",
    {
      code: 422,
      reason: "Invalid",
      message: "wrong",
      details: {
        name: "a",
        group: "g",
        kind: "K",
        causes: [{ reason: "FieldValueInvalid", message: "no", field: "spec.color" }],
      },
    },
  ],
];

/** Scripts about admission webhooks. */
export const webhooks: readonly Script[] = [
  {
    name: "webhooks see a new object before and after the server has made it one",
    managers: true,
    webhooks: both(),
    steps: [
      post(widgets, { ...red({ unknown: 1 }), status: { phase: "Sent" } }),
      post(
        widgets,
        { ...widget("", { color: "blue" }), metadata: { generateName: "b-" } },
        {
          query: { fieldManager: "me", fieldValidation: "Ignore" },
        },
      ),
      post(configMaps, configMap("a", { text: "one" })),
    ],
    uncompared: [{ path: "1.reviews.*.request.name", reason: "it is drawn" }],
  },
  {
    name: "webhooks see a put that makes an object as a create",
    webhooks: both(),
    steps: [
      put(`${leases}/a`, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "a" },
        spec: { holderIdentity: "me" },
      }),
    ],
    uncompared: [
      UNGENERATED,
      { ...UNGENERATED, path: "*.reviews.*.request.object.metadata.generation" },
    ],
  },
  {
    name: "webhooks see each kind of update, also one without a change",
    managers: true,
    webhooks: both(),
    steps: [
      post(widgets, red(), { id: "made" }),
      put(A, red({ size: 2 }, { resourceVersion: "$(made.metadata.resourceVersion)" })),
      mergePatch(A, { spec: { size: 3 } }),
      mergePatch(A, { spec: { size: 3 } }),
      jsonPatch(A, [{ op: "replace", path: "/spec/size", value: 4 }]),
      apply(A, red({ label: "x" })),
      apply(A, red({ label: "x" })),
      apply(`${widgets}/new`, widget("new")),
      get(A),
    ],
  },
  {
    name: "a mutating webhook sees values of wrong types, a validating one none",
    managers: true,
    webhooks: both(),
    steps: [post(widgets, red({ size: "x" })), post(widgets, { ...red(), spec: "text" })],
  },
  {
    name: "a mutating webhook repairs an object that its schema refuses",
    managers: true,
    webhooks: [
      mutating("m", patchWith({ op: "replace", path: "/spec/size", value: 7 })),
      validating("v", allow),
    ],
    steps: [post(widgets, red({ size: "x" })), get(A)],
  },
  {
    name: "webhooks see a deletion without a new object",
    webhooks: both(),
    steps: [
      post(widgets, red({}, { finalizers: ["example.org/a"] })),
      remove(A, { propagationPolicy: "Background" }),
      mergePatch(A, { metadata: { finalizers: null } }),
      post(configMaps, configMap("a")),
      post(configMaps, configMap("b")),
      remove(configMaps),
    ],
  },
  {
    name: "a validating webhook keeps an object, and one of a collection",
    messages: true,
    webhooks: [
      validating("v", deny({ message: "keep it" }), {
        rules: [rule(["*"], { operations: ["DELETE"] })],
      }),
    ],
    steps: [post(widgets, red()), remove(A), remove(widgets), get(A)],
  },
  {
    name: "a patch of a deletion is an error",
    webhooks: [
      mutating("m", patchWith({ op: "add", path: "/metadata/labels", value: {} }), {
        rules: [rule(["widgets"], { operations: ["DELETE"] })],
      }),
    ],
    steps: [post(widgets, red()), remove(A), get(A)],
  },
  {
    name: "a subresource needs a rule of its own",
    webhooks: both({ rules: [rule(["widgets/status", "scalings/scale"])] }),
    steps: [
      post(widgets, red()),
      mergePatch(`${A}/status`, { status: { phase: "Up" }, spec: { size: 9 } }),
      post(SCALINGS, {
        apiVersion: "tables.example.org/v1",
        kind: "Scaling",
        metadata: { name: "a" },
        spec: { replicas: 1 },
      }),
      mergePatch(`${SCALINGS}/a/scale`, { spec: { replicas: 2 } }),
      get(A),
    ],
  },
  {
    name: "a mutating webhook changes a scale and a status",
    webhooks: [
      mutating("scale", patchWith({ op: "replace", path: "/spec/replicas", value: 5 }), {
        rules: [rule(["scalings/scale"])],
      }),
      mutating("status", patchWith({ op: "add", path: "/status/phase", value: "Set" }), {
        rules: [rule(["widgets/*"], { operations: ["UPDATE"] })],
      }),
    ],
    steps: [
      post(SCALINGS, {
        apiVersion: "tables.example.org/v1",
        kind: "Scaling",
        metadata: { name: "a" },
        spec: { replicas: 1 },
      }),
      mergePatch(`${SCALINGS}/a/scale`, { spec: { replicas: 2 } }),
      get(`${SCALINGS}/a`),
      post(widgets, red()),
      mergePatch(`${A}/status`, { status: { phase: "Up" } }),
      get(A),
    ],
  },
  {
    name: "a dry run asks webhooks without side effects alone",
    messages: true,
    webhooks: [
      mutating("m", allow),
      validating("some", allow, { sideEffects: "Some", rules: [rule(["configmaps"])] }),
      validating("dry", allow, { sideEffects: "NoneOnDryRun", rules: [rule(["widgets"])] }),
    ],
    steps: [
      post(widgets, red(), { query: { dryRun: "All" } }),
      post(configMaps, configMap("a"), { query: { dryRun: "All" } }),
      post(configMaps, configMap("a")),
    ],
  },
  ...badAnswers.map(([what, answer]) => ({
    name: `an answer with ${what} is an error under Fail and passes under Ignore`,
    webhooks: failing(mutating, answer),
    steps: bothPolicies,
  })),
  {
    name: "a patch that does not apply is an error under both policies",
    webhooks: failing(mutating, patchWith({ op: "remove", path: "/spec/missing" })),
    steps: bothPolicies,
  },
  {
    name: "an object is read again after a patch, and then meets its schema",
    messages: true,
    webhooks: [
      mutating(
        "m",
        patchWith(
          { op: "add", path: "/spec/unknown", value: 1 },
          { op: "remove", path: "/spec/size" },
          { op: "add", path: "/spec/ports", value: [{ name: "web" }] },
        ),
      ),
      mutating("n", patchWith({ op: "add", path: "/spec/label", value: "NOT OK" }), {
        ...UPDATES,
      }),
      validating("v", allow),
    ],
    steps: [post(widgets, red({ size: 5 })), mergePatch(A, { spec: { color: "blue" } }), get(A)],
    uncompared: [unstored("unknown")],
  },
  ...[
    ["name", "other"],
    ["namespace", "other"],
    ["resourceVersion", "1"],
    ["uid", "8a5c7a5e-5b0b-4d1c-8a39-7f1f60000000"],
    ["finalizers", ["example.org/b"]],
  ].map(([field, value]) => ({
    name: `a patch of metadata.${field} has its own outcome in a create and in an update`,
    messages: true,
    webhooks: [
      mutating("m", patchWith({ op: "add", path: `/metadata/${field}`, value }), {
        matchConditions: [{ name: "marked", expression: "has(object.metadata.labels)" }],
      }),
    ],
    steps: [
      post(widgets, widget("b", undefined, { labels: { a: "1" } })),
      post(widgets, red()),
      mergePatch(A, { metadata: { labels: { a: "1" } } }),
      get(A),
    ],
  })),
  {
    name: "fields that a mutating webhook sets have no owner",
    managers: true,
    webhooks: [mutating("m", label("hooked"))],
    steps: [
      post(configMaps, configMap("a", { text: "one" })),
      apply(A, red()),
      apply(A, red()),
      mergePatch(MAP, { data: { text: "two" } }),
      get(MAP),
      get(A),
    ],
  },
  ...denials.map(([what, status]) => ({
    name: `a refusal with ${what} is told to the client`,
    messages: true,
    webhooks: [
      mutating("m", deny(status), { rules: [rule(["configmaps"])] }),
      validating("v", deny(status), { rules: [rule(["widgets"])] }),
    ],
    steps: [post(widgets, red()), post(configMaps, configMap("a"))],
  })),
  {
    name: "all validating webhooks are asked, and one refusal is enough",
    messages: true,
    webhooks: [
      validating("a", allow),
      validating("b", deny({ message: "no" })),
      validating("c", allow),
    ],
    steps: [post(widgets, red()), get(A)],
  },
  {
    name: "a mutating webhook that refuses is the last that is asked",
    messages: true,
    webhooks: [
      mutating("a", label("one")),
      mutating("b", deny({ message: "no" })),
      mutating("c", allow),
      validating("v", allow),
    ],
    steps: [post(widgets, red()), get(A)],
  },
  {
    name: "mutating webhooks run in their order, and again if they need it",
    webhooks: [
      mutating("a", label("a"), { reinvocationPolicy: "IfNeeded" }),
      mutating("b", allow, { reinvocationPolicy: "IfNeeded" }),
      mutating("c", label("c")),
      mutating("d", allow, { reinvocationPolicy: "IfNeeded" }),
      mutating("e", allow),
    ],
    steps: [post(configMaps, configMap("a")), mergePatch(MAP, { data: { x: "y" } })],
  },
  {
    name: "a change in the second round asks those behind it again",
    webhooks: [
      mutating(
        "a",
        (request) =>
          label(
            (request["object"] as { metadata: { labels?: { b?: string } } }).metadata.labels?.b
              ? "a2"
              : "a1",
          )(request),
        { reinvocationPolicy: "IfNeeded" },
      ),
      mutating("b", label("b"), { reinvocationPolicy: "IfNeeded" }),
    ],
    steps: [post(configMaps, configMap("a"))],
  },
  {
    name: "warnings come once, without control characters, and cut if there are many",
    webhooks: [
      mutating("m", () => ({
        allowed: true,
        warnings: ["one", "one", "", "tab\tin it", "two lines\nin it", 'a "quote"'],
      })),
      validating("v", deny({ message: "no" }, { warnings: ["one", "refused"] }), {
        rules: [rule(["configmaps"])],
      }),
      validating(
        "w",
        () => ({ allowed: true, warnings: ["x".repeat(4_000), "y".repeat(300), "z"] }),
        {
          rules: [rule(["widgets"])],
        },
      ),
      validating(
        "u",
        () => ({
          allowed: true,
          warnings: Array.from({ length: 20 }, (_, at) => `${at} ${"x".repeat(400)}`),
        }),
        { rules: [rule(["versions"])] },
      ),
    ],
    steps: [
      post(widgets, red({ unknown: 1 })),
      post(configMaps, configMap("a")),
      post(versions("v1"), VERSION),
    ],
  },
  ...statuses.map((status) => ({
    name: `an answer with the status ${status} is an error under Fail and passes under Ignore`,
    webhooks: failing(mutating, allow, { fault: { type: "status", status } }),
    steps: bothPolicies,
    uncompared: FAULT,
  })),
  ...[429, 503].map((status) => ({
    name: `an answer ${status} that names a time is asked again`,
    messages: true,
    webhooks: [
      mutating("m", label("asked"), {
        fault: { type: "status", status, retryAfter: 1 },
        times: 2,
        rules: [rule(["configmaps"])],
      }),
      validating("v", allow, {
        fault: { type: "status", status, retryAfter: 1 },
        rules: [rule(["widgets"])],
        timeoutSeconds: 2,
      }),
    ],
    steps: [post(configMaps, configMap("a")), post(widgets, red())],
    uncompared: FAULT,
  })),
  ...[mutating, validating].flatMap((type) =>
    (["down", "slow"] as const).map((fault) => ({
      name: `a ${type === mutating ? "mutating" : "validating"} webhook that is ${fault} is an error under Fail and passes under Ignore`,
      messages: true,
      webhooks: failing(type, allow, { fault: { type: fault }, timeoutSeconds: 1 }),
      steps: bothPolicies,
      uncompared: FAULT,
    })),
  ),
  {
    name: "a request with its webhooks ends after 34 seconds",
    messages: true,
    webhooks: ["a", "b", "c"].map((name) =>
      mutating(name, allow, {
        fault: { type: "slow" },
        timeoutSeconds: 15,
        failurePolicy: "Ignore",
      }),
    ),
    steps: [post(widgets, red()), get(A)],
    uncompared: FAULT,
  },
  {
    name: "a condition that is false leaves a webhook out, and one that fails decides by the policy",
    messages: true,
    webhooks: [
      validating("no", deny(), { matchConditions: [{ name: "no", expression: "false" }] }),
      validating("both", deny(), {
        matchConditions: [
          { name: "error", expression: "object.spec.missing == 1" },
          { name: "no", expression: "object.metadata.name == 'other'" },
        ],
      }),
      validating("ignored", deny(), {
        failurePolicy: "Ignore",
        matchConditions: [{ name: "error", expression: "object.spec.missing == 1" }],
      }),
      validating("fails", allow, {
        rules: [rule(["configmaps"])],
        matchConditions: [{ name: "error", expression: "object.spec.missing == 1" }],
      }),
    ],
    steps: [post(widgets, red()), post(configMaps, configMap("a"))],
  },
  {
    name: "the condition for the spec holds back what does not change it",
    webhooks: [
      validating("v", allow, {
        matchConditions: [
          {
            name: "spec",
            expression:
              "request.operation != 'UPDATE' || (!has(oldObject.metadata.deletionTimestamp) && object.?spec != oldObject.?spec)",
          },
        ],
      }),
    ],
    steps: [
      post(widgets, red({ ports: [{ name: "web", port: 1 }] }, { finalizers: ["example.org/a"] })),
      mergePatch(A, { metadata: { labels: { a: "1" } } }),
      mergePatch(A, { spec: { ports: [{ name: "web", port: 2 }] } }),
      remove(A),
      mergePatch(A, { spec: { size: 3 } }),
      mergePatch(A, { metadata: { finalizers: null } }),
    ],
  },
  {
    name: "a condition reads the request",
    webhooks: [
      validating("dry", allow, {
        matchConditions: [{ name: "dry", expression: "request.dryRun" }],
      }),
      validating("kind", allow, {
        matchConditions: [
          {
            name: "kind",
            expression:
              "request.kind.kind == 'Widget' && request.resource.group == 'conformance.example.org' && request.name == 'a' && request.options.kind == 'CreateOptions' && oldObject == null",
          },
        ],
      }),
    ],
    steps: [
      post(widgets, red(), { query: { dryRun: "All" } }),
      post(widgets, red()),
      mergePatch(A, { spec: { size: 3 } }),
    ],
  },
  {
    name: "selectors take a new or an old object by its labels",
    webhooks: [
      validating("in", allow, { objectSelector: { matchLabels: { a: "1" } } }),
      validating("out", allow, {
        objectSelector: {
          matchExpressions: [
            { key: "a", operator: "In", values: ["2", "3"] },
            { key: "b", operator: "DoesNotExist" },
          ],
        },
      }),
    ],
    steps: [
      post(widgets, red()),
      mergePatch(A, { metadata: { labels: { a: "1" } } }),
      mergePatch(A, { metadata: { labels: { a: "2" } } }),
      mergePatch(A, { metadata: { labels: { b: "2" } } }),
      remove(A),
    ],
  },
  {
    name: "a selector takes the objects of a namespace by its labels",
    webhooks: [
      validating("in", allow, { namespaceSelector: { matchLabels: { team: "blue" } } }),
      validating("named", allow, {
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "Exists" }],
        },
      }),
      validating("out", allow, {
        namespaceSelector: {
          matchExpressions: [{ key: "team", operator: "NotIn", values: ["blue"] }],
        },
      }),
    ],
    steps: [
      post(namespaces, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: "$(namespace)",
          labels: { team: "blue", "kubernetes.io/metadata.name": "$(namespace)" },
        },
      }),
      post(widgets, red()),
    ],
    uncompared: [...typed("body.spec", "body.status"), UNGENERATED],
  },
  {
    name: "a rule for another version sees the object in that version",
    webhooks: [
      mutating(
        "equivalent",
        patchWith({ op: "add", path: "/metadata/labels", value: { v: "1" } }),
        {
          rules: [rule(["versions"], { apiVersions: ["v1beta1"] })],
        },
      ),
      validating("exact", deny(), {
        rules: [rule(["versions"], { apiVersions: ["v1beta1"] })],
        matchPolicy: "Exact",
      }),
      validating("same", allow, { rules: [rule(["versions"], { apiVersions: ["v1"] })] }),
    ],
    steps: [post(versions("v1"), VERSION)],
    uncompared: [unstored("later")],
  },
  {
    name: "an update with a stale version asks mutating webhooks before its conflict",
    messages: true,
    webhooks: both(),
    steps: [
      post(widgets, red(), { id: "made" }),
      mergePatch(A, { spec: { size: 2 } }),
      put(A, red({ size: 3 }, { resourceVersion: "$(made.metadata.resourceVersion)" })),
      post(widgets, red()),
    ],
  },
];
