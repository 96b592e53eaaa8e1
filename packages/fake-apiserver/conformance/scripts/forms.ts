import { paths } from "../resources.ts";
import type { RequestStep, Script } from "../script.ts";
import {
  apply,
  configMap,
  get,
  jsonPatch,
  mergePatch,
  post,
  remove,
  watch,
  widget,
} from "../steps.ts";

const { configMaps, widgets } = paths;

const made = post(configMaps, configMap("a", { k: "1" }, { labels: { a: "b" } }));
const madeWidget = post(widgets, widget("a"));

/** One script for a table of requests, on two objects of two types. */
function table(name: string, requests: readonly RequestStep[], messages = true): Script {
  return { name, messages, steps: [made, madeWidget, ...requests] };
}

const LABEL_SELECTORS = [
  ...[
    "a = b",
    "a=b,",
    ",a=b",
    "a=b,,c=d",
    "a in (b",
    "a in b",
    "a in ()",
    "a in (b,,c)",
    "a in(b)",
  ],
  ...[
    "a in (b c)",
    "a=b c",
    "a=(b)",
    "! a",
    "!a=b",
    "a=b=c",
    "a>x",
    "a<-1",
    "a b",
    "=b",
    "a!",
    "a in",
  ],
  ...[
    "-a=b",
    "a=-b",
    "a/b/c=d",
    "a=b;c=d",
    "a='b'",
    "notin=a",
    "X.y/z=q",
    "(a=b)",
    "a=b AND c=d",
    "*",
  ],
  `a=${"x".repeat(64)}`,
];

const FIELD_SELECTORS = [
  ...[
    "metadata.name",
    "metadata.name=a,",
    ",metadata.name=a",
    "metadata.name=a=b",
    "metadata.name!a",
  ],
  ...["metadata.name in (a)", "metadata.labels=a", " metadata.name=a", "metadata.name =a", "=a"],
  ...[
    "metadata.name=\\a",
    "metadata.name=a\\,b",
    "metadata.name= a",
    "metadata.name!=",
    "status.phase=x",
  ],
];

const LIST_QUERIES: readonly Readonly<Record<string, string>>[] = [
  { resourceVersionMatch: "Exact" },
  { resourceVersionMatch: "NotOlderThan" },
  { resourceVersionMatch: "x", resourceVersion: "1" },
  { resourceVersionMatch: "Exact", resourceVersion: "0" },
  { resourceVersionMatch: "Exact", resourceVersion: "1", continue: "x" },
  { sendInitialEvents: "true" },
  { sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" },
  ...["", "-1", "x", "1.5"].map((limit) => ({ limit })),
  ...["x", "-1"].map((resourceVersion) => ({ resourceVersion })),
  { continue: "x" },
  { timeoutSeconds: "x" },
];

const WATCH_QUERIES: readonly Readonly<Record<string, string>>[] = [
  { sendInitialEvents: "true", resourceVersionMatch: "Exact", resourceVersion: "1" },
  { sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" },
  { resourceVersion: "0", continue: "x" },
];

const ADD = { op: "add", path: "/data/x" };

const JSON_PATCHES: readonly (readonly Readonly<Record<string, unknown>>[])[] = [
  [ADD],
  [{ op: "replace", path: "/data/k" }],
  [{ op: "test", path: "/data/k" }],
  [{ op: "add", path: "", value: {} }],
  [{ op: "remove", path: "" }],
  [{ op: "copy", from: "", path: "/data/x" }],
  [{ op: "move", from: "/data", path: "" }],
  [{ op: "test", path: "", value: {} }],
  [{ op: "add", value: "1" }],
  [{ path: "/data/k", value: "1" }],
  [{ op: "put", path: "/data/k", value: "1" }],
  [{ op: "add", path: "data/x", value: "1" }],
  [{ op: "move", path: "/data/x" }],
  [{ op: 1, path: "/data/x", value: "1" }],
  [{ op: "add", path: 1, value: "1" }],
  [{ ...ADD, value: "1", foo: 1, bar: 2 }],
];

const DELETE_OPTIONS: readonly Readonly<Record<string, unknown>>[] = [
  { gracePeriodSeconds: "1" },
  { dryRun: "All" },
  { orphanDependents: "false" },
  { preconditions: { uid: 1 } },
  { kind: "Status" },
];

const DUPLICATE =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"1","k":"2"}}';
const DUPLICATE_WIDGET =
  '{"apiVersion":"conformance.example.org/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"color":"red","color":"blue","foo":1,"ports":[{"name":"a"},{"name":"b","name":"c"}]}}';

function duplicates(fieldValidation: string): RequestStep[] {
  const query = { fieldValidation };
  const patch = (path: string, form: string, body: string): RequestStep => ({
    method: "PATCH",
    path,
    query: { ...query, ...(form === "apply" && { fieldManager: "one" }) },
    contentType: `application/${form}-patch+${form === "apply" ? "yaml" : "json"}`,
    body,
  });
  return [
    { method: "POST", path: configMaps, query, body: DUPLICATE },
    { method: "POST", path: widgets, query, body: DUPLICATE_WIDGET },
    patch(`${configMaps}/a`, "merge", '{"data":{"k":"1","k":"2"}}'),
    patch(`${widgets}/a`, "merge", '{"spec":{"color":"red","color":"blue"}}'),
    patch(
      `${configMaps}/a`,
      "json",
      '[{"op":"add","op":"add","path":"/data/k","value":"2","foo":1}]',
    ),
    patch(`${configMaps}/d`, "apply", DUPLICATE.replace('"b"', '"d"')),
  ];
}

const ITEMS = [
  { name: "web", port: 80 },
  { name: "dns", port: 53 },
];
const EDITED = [
  { name: "web", port: 80, protocol: "TCP" },
  { name: "dns", port: 54, protocol: "TCP" },
];
const editor = { query: { fieldManager: "editor" } };

function colored(spec: Readonly<Record<string, unknown>> = {}) {
  return widget("a", { color: "red", ...spec });
}

/** An apply, an update of one member of it by another manager, and applies that name less. */
function dropped(
  name: string,
  first: Readonly<Record<string, unknown>>,
  update: Readonly<Record<string, unknown>>,
  ...rest: readonly Readonly<Record<string, unknown>>[]
): Script {
  return {
    name,
    managers: true,
    steps: [
      apply(`${widgets}/a`, colored(first)),
      mergePatch(`${widgets}/a`, { spec: update }, editor),
      ...rest.map((spec) => apply(`${widgets}/a`, colored(spec))),
    ],
  };
}

/** The forms that a server demands of requests: it refuses many mistakes, and reads some oddities. */
export const forms: readonly Script[] = [
  dropped(
    "an item goes with its applier, though an updater has changed a member of it",
    { ports: ITEMS },
    { ports: EDITED },
    { ports: ITEMS.slice(0, 1) },
  ),
  dropped(
    "the last item goes with its applier, and leaves null where the list is still applied",
    { ports: ITEMS.slice(1) },
    { ports: EDITED.slice(1) },
    { ports: [] },
    { ports: [] },
  ),
  dropped(
    "an entry of a map goes with its applier, though an updater has changed a member of it",
    { extra: { a: { x: 1, y: 2 }, b: 1 } },
    { extra: { a: { y: 3, z: 4 } } },
    { extra: { b: 1 } },
    {},
  ),
  dropped(
    "an entry whose value an updater has changed stays with the updater",
    { settings: { a: "1", b: "2" } },
    { settings: { a: "3" } },
    { settings: { b: "2" } },
    {},
  ),
  {
    name: "an item that two appliers name goes with the last of them",
    managers: true,
    steps: [
      apply(`${widgets}/a`, colored({ ports: ITEMS.slice(0, 1) })),
      apply(`${widgets}/a`, colored({ ports: [{ name: "web", protocol: "UDP" }] }), {
        manager: "two",
        force: true,
      }),
      apply(`${widgets}/a`, colored()),
      apply(`${widgets}/a`, colored(), { manager: "two" }),
    ],
  },
  table(
    "selectors of labels that cannot be read are 400",
    LABEL_SELECTORS.flatMap((labelSelector) =>
      [configMaps, widgets].map((path) => get(path, { query: { labelSelector } })),
    ),
  ),
  table(
    "selectors of fields that cannot be read are 400",
    FIELD_SELECTORS.flatMap((fieldSelector) =>
      [configMaps, widgets].map((path) => get(path, { query: { fieldSelector } })),
    ),
  ),
  table(
    "parameters of lists that do not go together are refused",
    LIST_QUERIES.flatMap((query) => [configMaps, widgets].map((path) => get(path, { query }))),
  ),
  table(
    "parameters of watches that do not go together are refused",
    WATCH_QUERIES.map((query) => watch(configMaps, { take: 1 }, { timeoutSeconds: "1", ...query })),
  ),
  {
    name: "a list with the version 0 has no pages",
    steps: [
      ...[made, post(configMaps, configMap("b"))],
      get(configMaps, { query: { limit: "1", resourceVersion: "0" } }),
    ],
  },
  table("a read of a version that is none is 500", [
    get(`${configMaps}/a`, { query: { resourceVersion: "x" } }),
    get(`${widgets}/none`, { query: { resourceVersion: "-1" } }),
  ]),
  {
    name: "a read of a version of the future is 504",
    steps: [made, get(`${configMaps}/a`, { query: { resourceVersion: "999999999" } })],
  },
  ...JSON_PATCHES.map(
    (operations): Script => ({
      name: `a JSON patch of ${JSON.stringify(operations)}`,
      messages: true,
      steps: [made, jsonPatch(`${configMaps}/a`, operations)],
    }),
  ),
  table("a patch of another form is 400", [
    { ...jsonPatch(`${configMaps}/a`, []), body: {} },
    { ...jsonPatch(`${configMaps}/a`, []), body: [null] },
    mergePatch(`${configMaps}/a`, [1]),
    mergePatch(`${widgets}/a`, null),
  ]),
  table(
    "delete options of another form are 400",
    DELETE_OPTIONS.flatMap((options) =>
      [configMaps, widgets].map((path) => remove(`${path}/a`, options)),
    ),
  ),
  table("delete options of another form in the query are 400", [
    { method: "DELETE", path: `${configMaps}/a`, query: { gracePeriodSeconds: "x" } },
    { method: "DELETE", path: `${configMaps}/a`, body: [] },
  ]),
  {
    name: "a delete with orphanDependents false is accepted with 202 while finalizers hold the object",
    steps: [
      post(configMaps, configMap("a", {}, { finalizers: ["example.org/a"] })),
      remove(`${configMaps}/a`, { orphanDependents: false }),
    ],
  },
  ...["Strict", "Warn", "Ignore"].map(
    (validation): Script => ({
      name: `members that are there twice, with the validation ${validation}`,
      steps: [made, madeWidget, ...duplicates(validation)],
    }),
  ),
  table(
    "an apply may have trailing commas, another body may not",
    [
      apply(
        `${configMaps}/c`,
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c",},"data":{"k":",]",},}',
      ),
      {
        method: "POST",
        path: configMaps,
        body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},}',
      },
    ],
    false,
  ),
  table("an apply names its object in its body", [
    apply(`${configMaps}/c`, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
    apply(`${configMaps}/c`, { apiVersion: "v1", kind: "ConfigMap" }),
    apply(`${configMaps}/c`, configMap("", {}, { generateName: "c" })),
  ]),
  {
    name: "a manager with a control character is 422",
    messages: true,
    steps: [post(configMaps, configMap("a"), { query: { fieldManager: "a\tb" } })],
  },
  {
    name: "a body of a built-in type may lack its kind or its version",
    messages: true,
    steps: [
      post(configMaps, { kind: "ConfigMap", metadata: { name: "a" } }),
      post(configMaps, { apiVersion: "v1", metadata: { name: "b" } }),
      post(configMaps, null),
    ],
  },
  {
    name: "a table of the version v1beta1",
    steps: [
      madeWidget,
      get(widgets, { accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io" }),
    ],
    uncompared: [
      { path: "1.body.columnDefinitions.*.description", reason: "texts for people" },
      { path: "1.body.rows.*.cells.14", reason: "an age" },
    ],
  },
  {
    name: "a watch at a path of its own",
    steps: [
      made,
      madeWidget,
      ...["", "/a"].map((name) =>
        watch(
          `/api/v1/watch/namespaces/$(namespace)/configmaps${name}`,
          { take: 1 },
          {
            timeoutSeconds: "1",
          },
        ),
      ),
      watch(
        `/apis/conformance.example.org/v1/watch/namespaces/$(namespace)/widgets`,
        { take: 1 },
        {
          timeoutSeconds: "1",
        },
      ),
    ],
  },
  {
    name: "annotations of more than 256 KiB are 422",
    messages: true,
    steps: [
      post(configMaps, configMap("a", {}, { annotations: { a: "x".repeat(262_144) } })),
      post(widgets, widget("a", undefined, { annotations: { a: "ä".repeat(140_000) } })),
    ],
  },
  {
    name: "objects that are too large are refused",
    messages: true,
    steps: [
      post(configMaps, configMap("a", { k: "x".repeat(1_600_000) })),
      post(widgets, widget("a", { color: "red", settings: { k: "x".repeat(1_600_000) } })),
      post(configMaps, configMap("a", { k: "x".repeat(3_200_000) })),
    ],
  },
];
