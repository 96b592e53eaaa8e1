import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { apply, get, mergePatch, post, put, typed, UNGENERATED } from "../steps.ts";

const { leases, events } = paths;

const TIME = "2026-01-02T03:04:05.678901Z";

function lease(spec: object, metadata: object = {}) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "a", ...metadata },
    spec: { holderIdentity: "one", leaseDurationSeconds: 15, leaseTransitions: 0, ...spec },
  };
}

function event(name: string, fields: object = {}) {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name },
    eventTime: TIME,
    type: "Normal",
    reason: "Done",
    action: "Reconcile",
    note: "all is well",
    reportingController: "example.org/controller",
    reportingInstance: "one",
    regarding: {
      apiVersion: "conformance.example.org/v1",
      kind: "Widget",
      namespace: "$(namespace)",
      name: "a",
    },
    ...fields,
  };
}

const EMPTY_FIELDS = typed(
  "body.deprecatedSource",
  "body.deprecatedFirstTimestamp",
  "body.deprecatedLastTimestamp",
);

/** Leases and events. */
export const coordination: readonly Script[] = [
  {
    name: "the times of a lease have six digits",
    steps: [
      post(leases, lease({ acquireTime: TIME, renewTime: TIME })),
      get(`${leases}/a`),
      post(leases, lease({ renewTime: "2026-01-02T03:04:05.678Z" }, { name: "b" })),
      post(leases, lease({ renewTime: "2026-01-02T03:04:05Z" }, { name: "c" })),
      post(leases, lease({ renewTime: "2026-01-02T03:04:05.000000Z" }, { name: "d" })),
      post(leases, lease({ renewTime: "2026-01-02T03:04:05.678901+01:00" }, { name: "e" })),
      post(leases, lease({ renewTime: null }, { name: "f" })),
    ],
    uncompared: [UNGENERATED],
  },
  {
    name: "a lease is taken over with its version, and a late one is 409",
    steps: [
      post(leases, lease({ renewTime: TIME }), { id: "first" }),
      put(
        `${leases}/a`,
        lease(
          { holderIdentity: "two", renewTime: TIME, leaseTransitions: 1 },
          { resourceVersion: "$(first.metadata.resourceVersion)" },
        ),
        { id: "second" },
      ),
      put(
        `${leases}/a`,
        lease(
          { holderIdentity: "three", renewTime: TIME, leaseTransitions: 1 },
          { resourceVersion: "$(first.metadata.resourceVersion)" },
        ),
      ),
      put(
        `${leases}/a`,
        lease(
          { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 1 },
          { resourceVersion: "$(second.metadata.resourceVersion)" },
        ),
      ),
    ],
    uncompared: [UNGENERATED],
  },
  {
    name: "a put of a missing lease creates it, with a version too",
    steps: [
      put(`${leases}/a`, lease({ renewTime: TIME }, { resourceVersion: "1" })),
      put(`${leases}/a`, lease({ renewTime: TIME })),
      put(`${leases}/a`, lease({ renewTime: TIME })),
    ],
    uncompared: [UNGENERATED],
  },
  {
    name: "a second create of a lease is 409 AlreadyExists",
    steps: [post(leases, lease({ renewTime: TIME })), post(leases, lease({ renewTime: TIME }))],
    uncompared: [UNGENERATED],
  },
  {
    name: "annotations of a lease stay with its spec",
    steps: [
      post(leases, lease({ renewTime: TIME }, { annotations: { "holdfast/token": "7" } })),
      mergePatch(`${leases}/a`, { metadata: { annotations: { "holdfast/token": "8" } } }),
    ],
    uncompared: [UNGENERATED],
  },
  {
    name: "an event keeps its fields",
    steps: [post(events, event("a")), get(`${events}/a`)],
    uncompared: EMPTY_FIELDS,
  },
  {
    name: "a series of an event is patched",
    steps: [
      post(events, event("a")),
      mergePatch(`${events}/a`, { series: { count: 2, lastObservedTime: TIME } }),
      mergePatch(`${events}/a`, { series: { count: 3, lastObservedTime: "2026-01-02T03:04:06Z" } }),
      apply(`${events}/b`, event("b")),
    ],
    uncompared: EMPTY_FIELDS,
  },
  {
    name: "the time of an event has six digits",
    steps: [post(events, event("a", { eventTime: "2026-01-02T03:04:05Z" }))],
  },
];
