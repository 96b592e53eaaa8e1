import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { configMap, get, mergePatch, post, put, remove, typed, watch, widget } from "../steps.ts";

const { configMaps, widgets, pods } = paths;

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

const five = ["a", "b", "c", "d", "e"].map((name) => post(configMaps, configMap(name)));

const labelled = [
  post(configMaps, configMap("a", undefined, { labels: { app: "x", tier: "front" } })),
  post(configMaps, configMap("b", undefined, { labels: { app: "y", tier: "front" } })),
  post(configMaps, configMap("c", undefined, { labels: { app: "x" } })),
  post(configMaps, configMap("d")),
];

function byLabel(labelSelector: string) {
  return get(configMaps, { query: { labelSelector } });
}

/** Lists: versions, pages, selectors, forms. */
export const lists: readonly Script[] = [
  {
    name: "a list of a built-in type has items without version and kind",
    steps: [post(configMaps, configMap("a")), get(configMaps)],
  },
  {
    name: "a list of a custom type has items with version and kind",
    steps: [post(widgets, widget("a")), get(widgets)],
  },
  {
    name: "an empty list has items and a version",
    steps: [get(configMaps), get(widgets)],
    uncompared: [
      { path: "*.body.metadata.resourceVersion", reason: "nothing to relate it to", on: "fake" },
    ],
  },
  {
    name: "a list is sorted by name and as new as the last write",
    steps: [
      post(configMaps, configMap("b")),
      post(configMaps, configMap("c")),
      post(configMaps, configMap("a"), { id: "last" }),
      get(configMaps),
      post(widgets, widget("a")),
      get(configMaps, {
        query: {
          resourceVersionMatch: "NotOlderThan",
          resourceVersion: "$(last.metadata.resourceVersion)",
        },
      }),
    ],
    uncompared: [
      {
        path: "5.body.metadata.resourceVersion",
        reason: "a cache may know the later write or not",
      },
    ],
  },
  {
    name: "a list in pages goes on at its token and keeps its version",
    steps: [
      ...five,
      get(configMaps, { query: { limit: "2" }, id: "one" }),
      remove(`${configMaps}/d`),
      post(configMaps, configMap("f")),
      get(configMaps, { query: { limit: "2", continue: "$(one.metadata.continue)" }, id: "two" }),
      get(configMaps, { query: { limit: "2", continue: "$(two.metadata.continue)" } }),
      get(configMaps, { query: { limit: "500" } }),
    ],
  },
  {
    name: "a page with a selector does not count what remains",
    steps: [
      ...labelled,
      get(configMaps, { query: { limit: "1", labelSelector: "app=x" }, id: "one" }),
      get(configMaps, {
        query: { limit: "1", labelSelector: "app=x", continue: "$(one.metadata.continue)" },
        id: "two",
      }),
      get(configMaps, {
        query: { limit: "1", labelSelector: "app=x", continue: "$(two.metadata.continue)" },
      }),
    ],
  },
  {
    name: "a wrong token or limit is refused",
    steps: [
      get(configMaps, { query: { limit: "1", continue: "nonsense" } }),
      get(configMaps, { query: { limit: "nonsense" } }),
    ],
  },
  {
    name: "a token of a compacted version is 410 Expired with a token that goes on",
    steps: [
      ...five.slice(0, 3),
      get(configMaps, { query: { limit: "1" }, id: "one" }),
      post(configMaps, configMap("f")),
      { server: "forget" },
      get(configMaps, { query: { limit: "1", continue: "$(one.metadata.continue)" }, id: "gone" }),
      get(configMaps, { query: { limit: "1", continue: "$(gone.metadata.continue)" } }),
    ],
  },
  {
    name: "a list at an exact version shows that version, and 410 once it is compacted",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" })),
      get(configMaps, {
        query: {
          resourceVersion: "$(first.metadata.resourceVersion)",
          resourceVersionMatch: "Exact",
        },
      }),
      { server: "forget" },
      get(configMaps, {
        query: {
          resourceVersion: "$(first.metadata.resourceVersion)",
          resourceVersionMatch: "Exact",
        },
      }),
    ],
  },
  {
    name: "a list from a version that is yet to come is 504 with its cause",
    steps: [
      get(configMaps, {
        query: { resourceVersion: "99999999999", resourceVersionMatch: "NotOlderThan" },
      }),
    ],
  },
  {
    name: "a label selector takes equality, sets and existence",
    steps: [
      ...labelled,
      byLabel("app=x"),
      byLabel("app==x,tier=front"),
      byLabel("app!=x"),
      byLabel("app in (x,y),tier"),
      byLabel("app notin (x)"),
      byLabel("!app"),
      byLabel("app=,"),
      byLabel("app in x"),
    ],
  },
  {
    name: "a field selector takes name and namespace alone",
    steps: [
      ...labelled.slice(0, 2),
      get(configMaps, { query: { fieldSelector: "metadata.name=b" } }),
      get(configMaps, { query: { fieldSelector: "metadata.name!=b" } }),
      get("/api/v1/configmaps", { query: { fieldSelector: "metadata.namespace=$(namespace)" } }),
      get(configMaps, { query: { fieldSelector: "data.text=one" } }),
    ],
  },
  {
    name: "a list over all namespaces finds an object by its label",
    steps: [
      post(widgets, widget("a", { color: "red" }, { labels: { only: "$(namespace)" } })),
      get("/apis/conformance.example.org/v1/widgets", {
        query: { labelSelector: "only=$(namespace)" },
      }),
    ],
  },
  {
    name: "a list or get of metadata alone has no spec and no data",
    steps: [
      post(configMaps, configMap("a", { text: "one" }, { labels: { app: "x" } })),
      post(widgets, widget("a")),
      get(configMaps, { accept: METADATA_LIST }),
      get(widgets, { accept: METADATA_LIST }),
      get(`${widgets}/a`, { accept: METADATA }),
    ],
  },
  {
    name: "a table has the columns of the definition",
    steps: [
      post(widgets, widget("a", { color: "blue", size: 7 })),
      get(widgets, { accept: TABLE }),
    ],
    uncompared: [
      { path: "1.body.columnDefinitions.*.description", reason: "texts for people" },
      { path: "1.body.rows.*.cells.14", reason: "an age" },
    ],
  },
  {
    name: "a table has the cells that the paths of the definition choose",
    steps: [
      post(
        widgets,
        widget(
          "a",
          { color: "blue", tags: ["x", "y"], isOn: false },
          { labels: { "example.org/app": "web", "example.org/tier": "front" } },
        ),
      ),
      mergePatch(`${widgets}/a/status`, {
        status: {
          phase: "On",
          conditions: [
            { type: "Synced", status: "False" },
            { type: "Ready", status: "True", lastTransitionTime: "2999-01-01T00:00:00Z" },
          ],
        },
      }),
      get(widgets, { accept: TABLE }),
    ],
    uncompared: [
      { path: "2.body.columnDefinitions", reason: "compared elsewhere" },
      { path: "2.body.rows.*.cells.14", reason: "an age" },
    ],
  },
  {
    name: "an unacceptable form is 406",
    steps: [get(configMaps, { accept: "text/csv" })],
  },
  {
    name: "a get from a version is at least as new",
    steps: [
      post(pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }, { id: "first" }),
      get(`${pods}/a`, { query: { resourceVersion: "$(first.metadata.resourceVersion)" } }),
    ],
    uncompared: typed("body.spec", "body.status"),
  },
  {
    name: "a label selector compares numbers",
    steps: [
      post(configMaps, configMap("a", undefined, { labels: { level: "5" } })),
      post(configMaps, configMap("b", undefined, { labels: { level: "x" } })),
      post(configMaps, configMap("c")),
      get(configMaps, { query: { labelSelector: "level > 4" } }),
      get(configMaps, { query: { labelSelector: "level>5" } }),
      get(configMaps, { query: { labelSelector: "level < 6,level" } }),
      get(configMaps, { query: { labelSelector: "level > x" } }),
      get(configMaps, { query: { labelSelector: "level > -1" } }),
      get(configMaps, { query: { labelSelector: "level in ()" } }),
    ],
  },
  {
    name: "a limit and a timeout may be below 0, but must be numbers",
    steps: [
      post(configMaps, configMap("a")),
      post(configMaps, configMap("b"), { id: "b" }),
      get(configMaps, { query: { limit: "-1" } }),
      get(configMaps, { query: { timeoutSeconds: "-1" } }),
      get(configMaps, { query: { limit: "x" } }),
      get(configMaps, { query: { limit: "1.5" } }),
      get(configMaps, { query: { timeoutSeconds: "x" } }),
      watch(
        configMaps,
        { take: "end" },
        { timeoutSeconds: "-1", resourceVersion: "$(b.metadata.resourceVersion)" },
      ),
    ],
  },
  {
    name: "an object and a list are given as YAML too, other media types are 406",
    steps: [
      post(configMaps, configMap("a", { text: "x: [1" })),
      get(`${configMaps}/a`, { accept: "application/yaml" }),
      get(configMaps, { accept: "application/yaml" }),
      get(`${configMaps}/a`, { accept: "text/html" }),
      get(`${configMaps}/a`, { accept: "text/html, application/json" }),
      get(`${configMaps}/b`, { accept: "application/yaml" }),
    ],
  },
];
