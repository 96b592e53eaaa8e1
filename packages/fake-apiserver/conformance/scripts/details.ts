import { paths } from "../resources.ts";
import type { RequestStep, Script } from "../script.ts";
import {
  apply,
  configMap,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  remove,
  watch,
  widget,
} from "../steps.ts";

const { configMaps, widgets, zones } = paths;
const A = `${widgets}/a`;
const CONFIG_MAP = `${configMaps}/a`;
const EDITOR = { query: { fieldManager: "editor" } };
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const MERGE = "application/merge-patch+json";

const red = (spec: object = {}) => widget("a", { color: "red", ...spec });
const status = (fields: object) => ({ ...widget("a", {}), spec: undefined, status: fields });

/** Collection of a custom resource with several versions, of which each has fields of its own. */
const versions = (name: string) =>
  `/apis/tables.example.org/${name}/namespaces/$(namespace)/versions`;
const versioned = (name: string, spec: object) => ({
  apiVersion: `tables.example.org/${name}`,
  kind: "Version",
  metadata: { name: "a" },
  spec,
});
const applyVersion = (name: string, spec: object, options: object = {}) =>
  apply(`${versions(name)}/a`, versioned(name, spec), options);

const zone = (spec?: object) => ({
  apiVersion: "conformance.example.org/v1",
  kind: "Zone",
  metadata: { name: "emptied" },
  ...(spec && { spec }),
});

const SCALES = "/apis/tables.example.org/v1/namespaces/$(namespace)/scalings";
const scale = (fields: object, metadata: object = {}) => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "a", namespace: "$(namespace)", ...metadata },
  ...fields,
});

const threeOf = (path: string, kind: (name: string) => object): RequestStep[] =>
  ["a", "b", "c"].map((name) => post(path, kind(name), { id: name }));
const AT_B = "$(b.metadata.resourceVersion)";

/** Facts that good guesses miss. */
export const details: readonly Script[] = [
  // Applies that empty a part.
  {
    name: "an apply of an empty list over the items of its manager takes two applies to converge",
    managers: true,
    steps: [
      apply(A, red({ ports: [{ name: "web", port: 80 }], tags: ["x"], steps: ["x"] })),
      apply(A, red({ ports: [], tags: [], steps: [] })),
      apply(A, red({ ports: [], tags: [], steps: [] })),
      apply(A, red({ ports: [], tags: [], steps: [] })),
    ],
  },
  {
    name: "an apply of an empty map over the entries of its manager is 422 at every try",
    messages: true,
    steps: [
      apply(A, red({ settings: { x: "1" } })),
      apply(A, red({ settings: {} })),
      apply(A, red({ settings: {} })),
      apply(A, red()),
    ],
  },
  {
    name: "an apply of an empty spec by the manager of the whole spec is 422 at every try",
    messages: true,
    steps: [
      apply(`${zones}/emptied`, zone({ region: "north" })),
      apply(`${zones}/emptied`, zone({})),
      apply(`${zones}/emptied`, zone({})),
      apply(`${zones}/emptied`, zone()),
      remove(`${zones}/emptied`),
    ],
  },
  {
    name: "an apply of an empty spec that has fields of others is taken",
    managers: true,
    steps: [
      apply(A, red({ size: 2 })),
      apply(A, widget("a", { color: "red" }), { manager: "two" }),
      apply(A, widget("a", {})),
    ],
  },
  {
    name: "an apply of a value of a wrong type is 500 without a reason",
    messages: true,
    steps: [
      apply(A, widget("a", { color: 1 })),
      apply(A, red({ size: "big" })),
      apply(A, red()),
      apply(`${A}/status`, status({ phase: 1 })),
    ],
  },
  {
    name: "an apply of a value of a wrong type is 500 for a built-in kind too",
    steps: [
      apply(CONFIG_MAP, configMap("a", { text: 1 })),
      apply(CONFIG_MAP, { ...configMap("a"), binaryData: { x: "%%" } }),
      apply(`${paths.leases}/a`, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "a" },
        spec: { renewTime: "2024-01-01T00:00:00Z" },
      }),
    ],
  },
  // Versions without a conversion.
  {
    name: "an apply is 500 if the object has a field that the version of a manager lacks",
    messages: true,
    steps: [
      applyVersion("v1", { both: "x", only1: "y" }),
      mergePatch(`${versions("v1beta1")}/a`, { spec: { both: "z" } }, EDITOR),
      applyVersion("v1", { both: "z", only1: "y" }),
      applyVersion("v1", { both: "z" }, { manager: "two" }),
    ],
  },
  {
    name: "an update drops all managers if the object has a field that the version of one lacks",
    managers: true,
    steps: [
      post(versions("v1"), versioned("v1", { only1: "y" })),
      mergePatch(`${versions("v1beta1")}/a`, { spec: { both: "z" } }, EDITOR),
      get(`${versions("v1")}/a`),
      mergePatch(`${versions("v1")}/a`, { spec: { only1: "q" } }),
    ],
  },
  {
    name: "an apply in a newer version is 500 if it has a field that the last one of its manager lacks",
    messages: true,
    steps: [applyVersion("v1", { both: "x" }), applyVersion("v1beta1", { both: "x", only2: "y" })],
  },
  {
    name: "an apply creates an object with a field that the stored version drops",
    managers: true,
    steps: [applyVersion("v1beta1", { both: "x", only2: "y" }), get(`${versions("v1beta1")}/a`)],
  },
  {
    name: "the warning about a version comes before those about fields",
    steps: [post(versions("v1beta1"), versioned("v1beta1", { unknown: 1 }))],
  },
  // Deletions.
  {
    name: "a delete with another policy changes the finalizers of an object that is being deleted",
    steps: [
      post(widgets, widget("a", { color: "red" }, { finalizers: ["example.org/x"] })),
      remove(A),
      remove(A, { propagationPolicy: "Orphan" }),
      remove(A, { propagationPolicy: "Foreground" }),
      remove(A, { propagationPolicy: "Background" }),
      remove(A, { propagationPolicy: "Orphan", dryRun: ["All"] }),
      get(A),
    ],
  },
  {
    name: "a delete with another policy removes an object that only the last one holds",
    steps: [
      post(configMaps, configMap("a")),
      remove(CONFIG_MAP, { propagationPolicy: "Orphan" }),
      remove(CONFIG_MAP, { propagationPolicy: "Foreground" }),
      remove(CONFIG_MAP, { propagationPolicy: "Background" }),
      get(CONFIG_MAP),
    ],
  },
  {
    name: "a finalizer that comes too late is named as Go writes it",
    messages: true,
    steps: [
      post(configMaps, configMap("a", {}, { finalizers: ["example.org/x"] })),
      remove(CONFIG_MAP),
      mergePatch(CONFIG_MAP, { metadata: { finalizers: ["example.org/x", "example.org/y"] } }),
    ],
  },
  {
    name: "a delete of a collection deletes the page that it lists",
    steps: [
      ...threeOf(configMaps, (name) => configMap(name)),
      { method: "DELETE", path: configMaps, query: { limit: "2" } },
      get(configMaps),
    ],
  },
  {
    name: "objects of all namespaces are read, and not written",
    steps: [
      { method: "DELETE", path: "/api/v1/configmaps" },
      post("/api/v1/configmaps", configMap("a")),
      { method: "DELETE", path: "/apis/conformance.example.org/v1/widgets" },
      post("/apis/conformance.example.org/v1/widgets", red()),
      put("/apis/conformance.example.org/v1/widgets", red()),
    ],
  },
  {
    name: "a collection of a custom resource has no PUT and no PATCH",
    messages: true,
    steps: [put(widgets, red()), mergePatch(widgets, {})],
  },
  // Lists.
  {
    name: "a page of a list at a version is that of the version",
    steps: [
      ...threeOf(widgets, (name) => widget(name)),
      get(widgets, { query: { resourceVersion: AT_B, limit: "1" } }),
      get(widgets, { query: { resourceVersion: AT_B, limit: "5" } }),
      get(widgets, { query: { resourceVersion: AT_B } }),
    ],
  },
  {
    name: "a page after another has no limit at version 0",
    steps: [
      ...threeOf(widgets, (name) => widget(name)),
      get(widgets, { query: { limit: "1" }, id: "page" }),
      get(widgets, {
        query: { limit: "1", resourceVersion: "0", continue: "$(page.metadata.continue)" },
      }),
    ],
  },
  {
    name: "a field selector must not end in a backslash",
    messages: true,
    steps: [get(configMaps, { query: { fieldSelector: "metadata.name=a\\" } })],
  },
  {
    name: "a row of a table has the metadata, the object or nothing",
    uncompared: ["*.body.columnDefinitions", "*.body.rows.*.cells"].map((path) => ({
      path,
      reason: "descriptions and ages are compared elsewhere",
    })),
    steps: [
      post(widgets, red()),
      ...["", "Metadata", "Object", "None", "none"].map((includeObject) =>
        get(widgets, { accept: TABLE, query: { includeObject } }),
      ),
      get(A, { accept: TABLE, query: { includeObject: "None" } }),
      watch(widgets, { take: 1 }, { resourceVersion: "0", includeObject: "x" }, { accept: TABLE }),
    ],
  },
  // Bodies.
  {
    name: "a put or a patch that takes the name away is 400",
    messages: true,
    steps: [
      post(configMaps, configMap("a")),
      put(CONFIG_MAP, { apiVersion: "v1", kind: "ConfigMap" }),
      put(`${configMaps}/none`, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
      mergePatch(CONFIG_MAP, { metadata: { name: null } }),
      mergePatch(CONFIG_MAP, { metadata: null }),
      post(widgets, red()),
      put(A, { ...red(), metadata: {} }),
      mergePatch(A, { metadata: { name: "" } }),
      mergePatch(`${A}/status`, { metadata: { name: null } }),
      jsonPatch(A, [{ op: "remove", path: "/metadata/name" }]),
      jsonPatch(A, [{ op: "remove", path: "/metadata" }]),
    ],
  },
  {
    name: "an apply to an object that is there may leave the name out",
    steps: [
      apply(A, red()),
      apply(A, { ...red({ size: 2 }), metadata: {} }),
      apply(A, { ...red({ size: 3 }), metadata: { name: "" } }),
      apply(`${widgets}/none`, { ...red(), metadata: {} }),
    ],
  },
  {
    name: "an apply of another type is 400",
    messages: true,
    steps: [
      apply(A, { ...red(), kind: "Zone" }),
      apply(A, { ...red(), apiVersion: "conformance.example.org/v2" }),
      apply(A, { ...red(), apiVersion: "a/b/c" }),
      apply(A, { ...red(), apiVersion: undefined }),
      apply(A, { ...red(), kind: undefined }),
      apply(CONFIG_MAP, { ...configMap("a"), kind: "Secret" }),
      apply(CONFIG_MAP, ""),
      apply(CONFIG_MAP, []),
    ],
  },
  {
    name: "an apply may name no uid and no managers",
    steps: [
      apply(A, widget("a", { color: "red" }, { uid: "", managedFields: null })),
      apply(`${widgets}/b`, widget("b", { color: "red" }, { uid: null })),
    ],
  },
  {
    name: "a write of the status of a custom object takes its status alone",
    steps: [
      post(widgets, red()),
      mergePatch(`${A}/status`, { metadata: { uid: "x" }, status: { phase: "on" } }),
      mergePatch(`${A}/status`, { metadata: { labels: { "a b": "c" } }, status: { phase: "off" } }),
      mergePatch(`${A}/status`, { kind: "Other", status: { phase: "on" } }),
      get(A, { id: "now" }),
      put(`${A}/status`, {
        ...status({ phase: "off" }),
        kind: "Other",
        metadata: { name: "a", resourceVersion: "$(now.metadata.resourceVersion)" },
      }),
    ],
  },
  {
    name: "managers that cannot be read change nothing",
    managers: true,
    steps: [
      apply(A, red()),
      ...[
        { operation: "Other" },
        { operation: "" },
        { fieldsType: "FieldsV2" },
        { apiVersion: "" },
      ].map((wrong) => {
        const entry = {
          manager: "two",
          operation: "Apply",
          apiVersion: "conformance.example.org/v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:spec": {} },
          ...wrong,
        };
        return mergePatch(A, { metadata: { managedFields: [entry] } }, EDITOR);
      }),
    ],
  },
  {
    name: "a Scale must be one, of the same name and namespace",
    uncompared: ["message", "details"].map((part) => ({
      path: `*.body.${part}`,
      reason: "the text of a refused patch has the uid of its object",
    })),
    steps: [
      post(SCALES, {
        apiVersion: "tables.example.org/v1",
        kind: "Scaling",
        metadata: { name: "a" },
        spec: { replicas: 1 },
      }),
      ...[
        { ...scale({ spec: { replicas: 2 } }), kind: "Scaling" },
        { ...scale({ spec: { replicas: 2 } }), apiVersion: "autoscaling/v2" },
        { spec: { replicas: 2 } },
        scale({ spec: { replicas: 2 } }, { name: "b" }),
        scale({ spec: { replicas: 2 } }, { name: undefined }),
        scale({ spec: { replicas: 2 } }, { namespace: "other" }),
      ].map((body) => put(`${SCALES}/a/scale`, body)),
      mergePatch(`${SCALES}/a/scale`, { kind: "Other" }),
      mergePatch(`${SCALES}/a/scale`, { metadata: { name: "b" } }),
      mergePatch(`${SCALES}/a/scale`, { metadata: { uid: "x" }, spec: { replicas: 3 } }),
    ],
  },
  {
    name: "a JSON patch has at most 10,000 operations",
    messages: true,
    steps: [
      post(configMaps, configMap("a", { text: "x" })),
      ...[10_000, 10_001].map((length) =>
        jsonPatch(
          CONFIG_MAP,
          Array.from({ length }, () => ({ op: "test", path: "/data/text", value: "x" })),
        ),
      ),
    ],
  },
  {
    name: "a body of JSON may say so in capitals, or not at all",
    messages: true,
    steps: ["Application/Json", "", "application/json;", "application/json; charset=x"].map(
      (contentType, index) => post(configMaps, configMap(`a${index}`), { contentType }),
    ),
  },
  {
    name: "a body of another media type is 415, also that of a delete",
    messages: true,
    steps: [
      post(configMaps, configMap("a")),
      ...["text/json", "application/json;foo", "application/*"].flatMap((contentType) => [
        post(configMaps, configMap("b"), { contentType }),
        remove(CONFIG_MAP, {}, { contentType }),
        { method: "DELETE" as const, path: configMaps, body: {}, contentType },
      ]),
      post(widgets, red()),
      { method: "PATCH", path: A, body: {}, contentType: `${MERGE} ;charset=utf-8` },
      { method: "PATCH", path: A, body: {}, contentType: `${MERGE};charset=utf-8` },
    ],
  },
  {
    name: "a check of health takes any method",
    steps: (["HEAD", "POST"] as const).flatMap((method) =>
      ["/healthz", "/livez", "/readyz"].map((path) => ({ method, path })),
    ),
  },
];
