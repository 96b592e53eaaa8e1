import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
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

const { configMaps, leases, widgets } = paths;
const bound = { as: "bound" } as const;
const cluster = { as: "cluster-bound" } as const;
const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "new" } };

/** Every verb on two resources. */
function everyVerb(as: typeof bound | typeof cluster) {
  return [
    get(configMaps, as),
    get(`${configMaps}/a`, as),
    get("/api/v1/configmaps", as),
    watch(configMaps, { take: 0 }, { timeoutSeconds: "1" }, as),
    post(configMaps, configMap("b"), as),
    put(`${configMaps}/a`, configMap("a", { text: "x" }), as),
    mergePatch(`${configMaps}/a`, { data: { text: "y" } }, as),
    apply(`${configMaps}/b`, configMap("b"), as),
    remove(`${configMaps}/b`, undefined, as),
    remove(configMaps, undefined, { ...as, query: { labelSelector: "none=here" } }),
    mergePatch(`${widgets}/a/status`, { status: { phase: "x" } }, as),
    get(`${widgets}/a/status`, as),
    get("/apis/conformance.example.org/v1/zones/z", as),
  ];
}

const setup = [post(configMaps, configMap("a")), post(widgets, widget("a"))];
const ignored = [
  { path: "*.body.metadata.resourceVersion", reason: "lists show versions of other scripts" },
  { path: "*.events", reason: "the end of a watch comes at a time of its own" },
  { path: "*.ended", reason: "the end of a watch comes at a time of its own" },
];

/** Rights: a server whose roles decide. */
export const rights: readonly Script[] = [
  {
    name: "a caller without a rule is 403 for every verb",
    messages: true,
    rules: [],
    steps: [...setup, ...everyVerb(bound)],
    uncompared: ignored,
  },
  {
    name: "a rule allows its verbs on its resources",
    messages: true,
    rules: [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["conformance.example.org"], resources: ["widgets"], verbs: ["*"] },
    ],
    steps: [...setup, ...everyVerb(bound)],
    uncompared: ignored,
  },
  {
    name: "a role of the cluster allows all namespaces",
    messages: true,
    rules: [
      { apiGroups: ["*"], resources: ["configmaps", "*/status"], verbs: ["get", "list", "patch"] },
      { apiGroups: ["conformance.example.org"], resources: ["*"], verbs: ["get"] },
    ],
    steps: [...setup, ...everyVerb(cluster)],
    uncompared: [
      ...ignored,
      { path: "4.body", reason: "objects of other scripts" },
      {
        path: "*.body.items.*.metadata.resourceVersion",
        reason: "related to objects of other scripts",
      },
    ],
  },
  {
    name: "a rule with names allows these objects, and lists of one of them",
    messages: true,
    rules: [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["a"],
        verbs: ["get", "list", "create", "delete"],
      },
    ],
    steps: [
      ...setup,
      get(`${configMaps}/a`, bound),
      get(`${configMaps}/b`, bound),
      get(configMaps, bound),
      get(configMaps, { ...bound, query: { fieldSelector: "metadata.name=a" } }),
      get(configMaps, { ...bound, query: { fieldSelector: "metadata.name=b" } }),
      post(configMaps, configMap("a"), bound),
      remove(`${configMaps}/a`, undefined, bound),
    ],
    uncompared: ignored,
  },
  {
    name: "an apply or a put of a new object needs the verb create too",
    messages: true,
    rules: [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["patch", "update"] },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["update", "patch"] },
      { apiGroups: ["conformance.example.org"], resources: ["widgets/status"], verbs: ["patch"] },
    ],
    steps: [
      apply(`${configMaps}/new`, configMap("new"), bound),
      put(`${leases}/new`, lease, bound),
      apply(`${leases}/new`, lease, bound),
      jsonPatch(`${configMaps}/none`, [], bound),
      put(`${configMaps}/none`, configMap("none"), bound),
      apply(`${widgets}/none/status`, widget("none"), bound),
    ],
    uncompared: ignored,
  },
  {
    name: "rights come before the path and the object",
    messages: true,
    rules: [],
    steps: [
      get("/apis/none.example.org/v1/nothings", bound),
      get("/api/v1/namespaces/$(namespace)/nothings/a", bound),
      post(configMaps, "{", bound),
      get("/somewhere", bound),
      get("/api/v1/namespaces/$(namespace)", bound),
      { method: "HEAD", path: `${widgets}/a`, ...bound },
    ],
  },
];
