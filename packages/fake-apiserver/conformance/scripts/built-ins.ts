import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { apply, get, mergePatch, post, put, typed, UNGENERATED } from "../steps.ts";

const { budgets, claims, ingresses, jobs, policies } = paths;
const podSelector = { matchLabels: { app: "x" } };

/** A kind, its spec, a change of that, and a status. A NetworkPolicy has no status. */
const KINDS = [
  {
    collection: ingresses,
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: { ingressClassName: "one", rules: [{ host: "a.example.org" }] },
    change: { ingressClassName: "two", tls: [{ hosts: ["a.example.org"], secretName: "tls" }] },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    empty: typed("body.status.loadBalancer"),
  },
  {
    collection: claims,
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    change: { resources: { requests: { storage: "2Gi" } } },
    status: { phase: "Bound", capacity: { storage: "1Gi" } },
    empty: [UNGENERATED],
  },
  {
    collection: budgets,
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    spec: { maxUnavailable: 1, selector: podSelector },
    change: { maxUnavailable: "50%" },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
    empty: [],
  },
  {
    collection: policies,
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    spec: { podSelector, policyTypes: ["Ingress"] },
    change: {
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [{ podSelector }], ports: [{ port: 80, protocol: "TCP" }] }],
      egress: [{ to: [{ ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.1/32"] } }] }],
    },
    status: undefined,
    empty: [],
  },
  {
    collection: jobs,
    apiVersion: "batch/v1",
    kind: "Job",
    spec: { parallelism: 1 },
    change: { parallelism: 2 },
    status: { active: 1 },
    empty: typed("body.spec.template"),
  },
];

/** The status that types of Go write when it is empty. */
const EMPTY_STATUS = ["0", "1"].map((step) => ({
  path: `${step}.body.status`,
  reason: "a server with types of its own writes empty fields",
  on: "fake" as const,
}));

/** Kinds that Kubernetes itself serves, beside those of the other scripts. */
export const builtIns: readonly Script[] = KINDS.flatMap(
  ({ collection, apiVersion, kind, spec, change, status, empty }) => {
    const object = (name: string, fields: object = {}) => ({
      apiVersion,
      kind,
      metadata: { name },
      spec,
      ...fields,
    });
    return [
      {
        name: `spec and status of a ${kind} are apart, as far as it has them`,
        steps: [
          post(collection, object("a", { status })),
          mergePatch(`${collection}/a`, { spec: change, status }),
          mergePatch(`${collection}/a/status`, { spec, status }),
          get(`${collection}/a`),
        ],
        uncompared: [...EMPTY_STATUS, ...empty],
      },
      {
        name: `a put of a ${kind} without a version`,
        steps: [
          post(collection, object("a")),
          put(`${collection}/a`, object("a", { spec: { ...spec, ...change } })),
          put(`${collection}/b`, object("b")),
        ],
        uncompared: [...EMPTY_STATUS, ...empty],
      },
      {
        name: `an apply of a ${kind} changes what it names`,
        steps: [
          apply(`${collection}/a`, object("a")),
          apply(`${collection}/a`, object("a", { spec: { ...spec, ...change } })),
          apply(`${collection}/a`, object("a", { spec: { ...spec, ...change } })),
        ],
        uncompared: [...typed("body.status"), ...empty],
      },
    ];
  },
);
