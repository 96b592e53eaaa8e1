import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { apply, configMap, get, mergePatch, post, remove, widget } from "../steps.ts";

const { configMaps, widgets } = paths;

function owner(name: string) {
  return {
    apiVersion: "conformance.example.org/v1",
    kind: "Widget",
    name,
    uid: `uid-of-${name}`,
  };
}

/** Server-side apply. */
export const applies: readonly Script[] = [
  {
    name: "an apply creates with 201, changes with 200 and repeats without a version",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", { text: "one" })),
      apply(`${configMaps}/a`, configMap("a", { text: "two" })),
      apply(`${configMaps}/a`, configMap("a", { text: "two" })),
    ],
  },
  {
    name: "an apply removes what its manager no longer names",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", { one: "1", two: "2" }, { labels: { app: "x" } })),
      apply(`${configMaps}/a`, configMap("a", { two: "2" })),
    ],
  },
  {
    name: "an apply leaves the fields of others alone",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", { one: "1" }), { manager: "one" }),
      apply(`${configMaps}/a`, configMap("a", { two: "2" }), { manager: "two" }),
      apply(`${configMaps}/a`, configMap("a", {}), { manager: "one" }),
    ],
  },
  {
    name: "an apply of another manager's field is 409 without force",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { manager: "one" }),
      apply(`${configMaps}/a`, configMap("a", { text: "two" }), { manager: "two" }),
      apply(`${configMaps}/a`, configMap("a", { text: "two" }), { manager: "two", force: true }),
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { manager: "one" }),
    ],
  },
  {
    name: "two managers of the same value share it, and it goes with the last",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { manager: "one" }),
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { manager: "two" }),
      apply(`${configMaps}/a`, configMap("a"), { manager: "one" }),
      apply(`${configMaps}/a`, configMap("a"), { manager: "two" }),
    ],
  },
  {
    name: "an apply of a field that a patch has written is 409 without force",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red", size: 2 }), { manager: "one" }),
      mergePatch(`${widgets}/a`, { spec: { size: 3 } }, { query: { fieldManager: "editor" } }),
      apply(`${widgets}/a`, widget("a", { color: "red", size: 4 }), { manager: "one" }),
      apply(`${widgets}/a`, widget("a", { color: "red", size: 4 }), {
        manager: "one",
        force: true,
      }),
    ],
  },
  {
    name: "an apply needs a manager, and force is for applies alone",
    steps: [
      { ...apply(`${configMaps}/a`, configMap("a")), query: {} },
      post(configMaps, configMap("a")),
      mergePatch(`${configMaps}/a`, { data: { text: "one" } }, { query: { force: "true" } }),
      apply(`${configMaps}/a`, configMap("a"), { manager: "x".repeat(129) }),
    ],
  },
  {
    name: "an apply without kind, with another name or with managed fields is refused",
    steps: [
      apply(`${configMaps}/a`, { metadata: { name: "a" } }),
      apply(`${configMaps}/a`, configMap("b")),
      apply(`${configMaps}/a`, configMap("a", undefined, { managedFields: [{ manager: "x" }] })),
      apply(`${configMaps}/a`, "{"),
    ],
  },
  {
    name: "an apply with the version of an object that has changed is 409",
    steps: [
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { id: "first" }),
      apply(`${configMaps}/a`, configMap("a", { text: "two" })),
      apply(
        `${configMaps}/a`,
        configMap("a", { text: "three" }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
      ),
    ],
  },
  {
    name: "an apply with a uid of an object that does not exist is 409",
    steps: [apply(`${configMaps}/a`, configMap("a", undefined, { uid: "uid-of-nothing" }))],
  },
  {
    name: "an apply without a name in the object is 400",
    steps: [
      apply(`${configMaps}/a`, { apiVersion: "v1", kind: "ConfigMap", data: { text: "one" } }),
    ],
  },
  {
    name: "a dry run of an apply stores nothing",
    steps: [
      apply(`${configMaps}/a`, configMap("a", { text: "one" }), { query: { dryRun: "All" } }),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "owner references merge by uid",
    managers: true,
    steps: [
      apply(`${configMaps}/a`, configMap("a", undefined, { ownerReferences: [owner("one")] }), {
        manager: "one",
      }),
      apply(`${configMaps}/a`, configMap("a", undefined, { ownerReferences: [owner("two")] }), {
        manager: "two",
      }),
      apply(`${configMaps}/a`, configMap("a"), { manager: "one" }),
    ],
  },
  {
    name: "finalizers merge as a set",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red" }, { finalizers: ["example.org/one"] }), {
        manager: "one",
      }),
      apply(
        `${widgets}/a`,
        { ...widget("a", {}, { finalizers: ["example.org/two"] }), spec: undefined },
        { manager: "two" },
      ),
      apply(`${widgets}/a`, widget("a"), { manager: "one" }),
      remove(`${widgets}/a`),
      apply(
        `${widgets}/a`,
        { ...widget("a", {}, { finalizers: [] }), spec: undefined },
        { manager: "two" },
      ),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a list of type set merges by value",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red", tags: ["x", "y"] }), { manager: "one" }),
      apply(`${widgets}/a`, widget("a", { color: "red", tags: ["z", "x"] }), { manager: "two" }),
      apply(`${widgets}/a`, widget("a", { color: "red", tags: ["y"] }), { manager: "one" }),
      apply(`${widgets}/a`, widget("a", { color: "red", tags: ["v", "v"] }), { manager: "one" }),
    ],
  },
  {
    name: "a list of type map merges by its keys",
    managers: true,
    steps: [
      apply(
        `${widgets}/a`,
        widget("a", {
          color: "red",
          ports: [
            { name: "web", port: 80 },
            { name: "dns", port: 53 },
          ],
        }),
        { manager: "one" },
      ),
      apply(
        `${widgets}/a`,
        widget("a", { color: "red", ports: [{ name: "dns", protocol: "UDP" }] }),
        {
          manager: "two",
        },
      ),
      apply(`${widgets}/a`, widget("a", { color: "red", ports: [{ name: "web", port: 81 }] }), {
        manager: "two",
      }),
      apply(`${widgets}/a`, widget("a", { color: "red", ports: [{ name: "dns", port: 53 }] }), {
        manager: "one",
      }),
    ],
  },
  {
    name: "an atomic list is owned as a whole",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red", steps: ["x", "y"] }), { manager: "one" }),
      apply(`${widgets}/a`, widget("a", { color: "red", steps: ["z"] }), { manager: "two" }),
      apply(`${widgets}/a`, widget("a", { color: "red", steps: ["z"] }), {
        manager: "two",
        force: true,
      }),
    ],
  },
  {
    name: "an apply of an unknown field of a custom object is 500, below a free one it is kept",
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red", unknown: 1 })),
      apply(`${widgets}/a`, widget("a", { color: "red", extra: { any: { thing: 1 } } })),
    ],
  },
  {
    name: "an apply of a new object may name a version",
    managers: true,
    steps: [
      apply(`${widgets}/a`, widget("a", { color: "red" }, { resourceVersion: "500" })),
      apply(`${widgets}/b`, widget("b", { color: "red" }, { resourceVersion: "abc" })),
      apply(`${widgets}/a`, widget("a", { color: "red" }, { resourceVersion: "1" })),
    ],
  },
];
