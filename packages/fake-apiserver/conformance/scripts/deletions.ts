import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import {
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

const { configMaps, widgets } = paths;

const held = { finalizers: ["example.org/one", "example.org/two"] };

/** Finalizers, owners and the forms of deletion. */
export const deletions: readonly Script[] = [
  {
    name: "a delete of an object with finalizers marks it and raises the generation",
    steps: [
      post(widgets, widget("a", { color: "red" }, held)),
      remove(`${widgets}/a`),
      get(`${widgets}/a`),
      remove(`${widgets}/a`),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a delete of a built-in object with finalizers marks it",
    steps: [
      post(configMaps, configMap("a", { text: "one" }, held)),
      remove(`${configMaps}/a`),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "an object is gone when its last finalizer is",
    steps: [
      post(widgets, widget("a", { color: "red" }, held), { id: "first" }),
      remove(`${widgets}/a`),
      mergePatch(`${widgets}/a`, { metadata: { finalizers: ["example.org/two"] } }),
      mergePatch(`${widgets}/a`, { metadata: { finalizers: null } }),
      get(`${widgets}/a`),
      watch(widgets, { take: 3 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a put that removes the last finalizer deletes the object",
    steps: [
      post(configMaps, configMap("a", { text: "one" }, { finalizers: ["example.org/one"] })),
      remove(`${configMaps}/a`),
      put(`${configMaps}/a`, configMap("a", { text: "one" })),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "a finalizer that is added during a deletion is 422",
    steps: [
      post(widgets, widget("a", { color: "red" }, held)),
      remove(`${widgets}/a`),
      mergePatch(`${widgets}/a`, {
        metadata: { finalizers: ["example.org/one", "example.org/two", "example.org/three"] },
      }),
      jsonPatch(`${widgets}/a`, [
        { op: "add", path: "/metadata/finalizers/-", value: "example.org/three" },
      ]),
      mergePatch(`${widgets}/a`, { metadata: { finalizers: ["example.org/three"] } }),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "an object that is being deleted still takes writes",
    steps: [
      post(widgets, widget("a", { color: "red" }, held)),
      remove(`${widgets}/a`),
      mergePatch(`${widgets}/a`, { spec: { size: 2 }, metadata: { labels: { app: "x" } } }),
      mergePatch(`${widgets}/a/status`, { status: { phase: "going" } }),
      mergePatch(`${widgets}/a`, { metadata: { deletionTimestamp: null } }),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a create under the name of an object that is being deleted is 409",
    steps: [
      post(widgets, widget("a", { color: "red" }, held)),
      remove(`${widgets}/a`),
      post(widgets, widget("a")),
    ],
  },
  {
    name: "a removal of a finalizer tests the index at which it stands",
    steps: [
      post(widgets, widget("a", { color: "red" }, held)),
      remove(`${widgets}/a`),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers/0", value: "example.org/two" },
        { op: "remove", path: "/metadata/finalizers/0" },
      ]),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers/1", value: "example.org/two" },
        { op: "remove", path: "/metadata/finalizers/1" },
      ]),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers/0", value: "example.org/one" },
        { op: "remove", path: "/metadata/finalizers/0" },
      ]),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a finalizer without a domain or with a wrong name is refused or warned of",
    steps: [
      post(widgets, widget("a", { color: "red" }, { finalizers: ["plain"] })),
      post(widgets, widget("b", { color: "red" }, { finalizers: ["not a name"] })),
    ],
  },
  {
    name: "the propagation orphan or foreground leaves a finalizer of the server",
    steps: [
      post(widgets, widget("a")),
      remove(`${widgets}/a`, { propagationPolicy: "Orphan" }),
      post(widgets, widget("b")),
      remove(`${widgets}/b`, { propagationPolicy: "Foreground" }),
      get(`${widgets}/b`),
      post(widgets, widget("c")),
      remove(`${widgets}/c`, { propagationPolicy: "Background" }),
      get(`${widgets}/c`),
      post(widgets, widget("d")),
      remove(`${widgets}/d`, undefined, { query: { propagationPolicy: "Foreground" } }),
    ],
  },
  {
    name: "an unknown propagation is 422",
    steps: [post(widgets, widget("a")), remove(`${widgets}/a`, { propagationPolicy: "Never" })],
  },
  {
    name: "a foreground deletion waits for the removal of the finalizer of the server",
    steps: [
      post(widgets, widget("a", { color: "red" }, { finalizers: ["example.org/one"] })),
      remove(`${widgets}/a`, { propagationPolicy: "Foreground" }),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers/0", value: "example.org/one" },
        { op: "remove", path: "/metadata/finalizers/0" },
      ]),
      mergePatch(`${widgets}/a`, { metadata: { finalizers: [] } }),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "an owner reference needs version, kind, name and uid",
    steps: [
      post(widgets, widget("a"), { id: "owner" }),
      post(
        configMaps,
        configMap("b", undefined, {
          ownerReferences: [
            {
              apiVersion: "conformance.example.org/v1",
              kind: "Widget",
              name: "a",
              uid: "$(owner.metadata.uid)",
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        }),
      ),
      post(configMaps, configMap("c", undefined, { ownerReferences: [{ kind: "Widget" }] })),
    ],
  },
  {
    name: "two controllers among the owners are 422",
    steps: [
      post(
        configMaps,
        configMap("a", undefined, {
          ownerReferences: ["one", "two"].map((name) => ({
            apiVersion: "conformance.example.org/v1",
            kind: "Widget",
            name,
            uid: `uid-of-${name}`,
            controller: true,
          })),
        }),
      ),
    ],
  },
  {
    name: "two propagation policies are 422",
    steps: [
      post(widgets, widget("a")),
      remove(`${widgets}/a`, { propagationPolicy: "Foreground", orphanDependents: true }),
      remove(`${widgets}/a`, undefined, {
        query: { propagationPolicy: "Background", orphanDependents: "false" },
      }),
      remove(`${widgets}/a`, { orphanDependents: true }),
    ],
  },
  {
    name: "the time of deletion stays, whatever an update says",
    steps: [
      post(widgets, widget("a", { color: "red" }, { finalizers: ["example.org/x"] })),
      remove(`${widgets}/a`),
      mergePatch(`${widgets}/a`, { metadata: { deletionTimestamp: null }, spec: { size: 2 } }),
      mergePatch(`${widgets}/a`, { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } }),
    ],
    uncompared: [
      {
        path: "3.body.metadata.resourceVersion",
        reason: "the writer becomes a manager of the time, which no client sees",
        on: "fake",
      },
    ],
  },
];
