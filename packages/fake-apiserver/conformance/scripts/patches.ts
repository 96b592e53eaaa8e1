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
  watch,
  widget,
} from "../steps.ts";

const { configMaps, widgets } = paths;

/** Merge patches and JSON patches. */
export const patches: readonly Script[] = [
  {
    name: "a merge patch sets, replaces and removes fields",
    steps: [
      post(configMaps, configMap("a", { one: "1", two: "2" }, { labels: { app: "x", tier: "y" } })),
      mergePatch(`${configMaps}/a`, {
        metadata: { labels: { tier: null, made: "z" } },
        data: { one: null, two: "3", three: "4" },
      }),
      get(`${configMaps}/a`),
    ],
  },
  {
    name: "a merge patch replaces a list as a whole",
    steps: [
      post(
        widgets,
        widget("a", { color: "red", tags: ["x", "y"], ports: [{ name: "web", port: 80 }] }),
      ),
      mergePatch(`${widgets}/a`, { spec: { tags: ["z"], ports: [{ name: "dns", port: 53 }] } }),
    ],
  },
  {
    name: "a merge patch that changes nothing makes no version",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      mergePatch(`${configMaps}/a`, { data: { text: "one" } }),
      mergePatch(`${configMaps}/a`, {}),
      mergePatch(`${configMaps}/a`, { data: { text: "two" } }),
      watch(configMaps, { take: 1 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a merge patch with a stale version is 409, with the current one it is taken",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" }), { id: "second" }),
      mergePatch(`${configMaps}/a`, {
        metadata: { resourceVersion: "$(first.metadata.resourceVersion)" },
        data: { text: "three" },
      }),
      mergePatch(`${configMaps}/a`, {
        metadata: { resourceVersion: "$(second.metadata.resourceVersion)" },
        data: { text: "three" },
      }),
    ],
  },
  {
    name: "a merge patch with the uid of another object is refused",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a`, {
        metadata: { uid: "00000000-0000-4000-8000-000000000000" },
        spec: { size: 2 },
      }),
    ],
  },
  {
    name: "a merge patch of the name is refused",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a`, { metadata: { name: "b" } }),
      mergePatch(`${widgets}/a`, { metadata: { namespace: "another" } }),
    ],
  },
  {
    name: "a JSON patch adds, replaces, removes, copies, moves and tests",
    steps: [
      post(
        widgets,
        widget("a", { color: "red", tags: ["x", "y"], settings: { one: "1", two: "2" } }),
      ),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/spec/color", value: "red" },
        { op: "add", path: "/spec/tags/-", value: "z" },
        { op: "add", path: "/spec/tags/0", value: "w" },
        { op: "replace", path: "/spec/color", value: "blue" },
        { op: "remove", path: "/spec/settings/one" },
        { op: "copy", from: "/spec/settings/two", path: "/spec/settings/copied" },
        { op: "move", from: "/spec/settings/two", path: "/spec/settings/moved~1to~0" },
      ]),
    ],
  },
  {
    name: "a JSON patch with a failed test is 422 Invalid and changes nothing",
    steps: [
      post(widgets, widget("a", { color: "red" })),
      jsonPatch(`${widgets}/a`, [
        { op: "replace", path: "/spec/color", value: "blue" },
        { op: "test", path: "/spec/color", value: "red" },
      ]),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a JSON patch tests a missing field with null",
    steps: [
      post(widgets, widget("a")),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers", value: null },
        { op: "add", path: "/metadata/finalizers", value: ["example.org/one"] },
      ]),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers", value: null },
        { op: "add", path: "/metadata/finalizers", value: ["example.org/two"] },
      ]),
      jsonPatch(`${widgets}/a`, [
        { op: "test", path: "/metadata/finalizers/0", value: "example.org/one" },
        { op: "remove", path: "/metadata/finalizers/0" },
      ]),
    ],
  },
  {
    name: "a JSON patch of a path that does not exist is 422",
    steps: [
      post(widgets, widget("a")),
      jsonPatch(`${widgets}/a`, [{ op: "remove", path: "/spec/missing" }]),
      jsonPatch(`${widgets}/a`, [{ op: "replace", path: "/spec/missing", value: 1 }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/missing/deep", value: 1 }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/tags/7", value: "x" }]),
      jsonPatch(`${widgets}/a`, [{ op: "test", path: "/spec/missing", value: 1 }]),
    ],
  },
  {
    name: "a JSON patch that is none is 400",
    steps: [
      post(widgets, widget("a")),
      jsonPatch(`${widgets}/a`, [{ op: "invent", path: "/spec/size", value: 1 }]),
      { ...jsonPatch(`${widgets}/a`, []), body: { op: "add" } },
      { ...jsonPatch(`${widgets}/a`, []), body: "[" },
    ],
  },
  {
    name: "a patch cannot change the kind, the version or the time of deletion",
    steps: [
      post(configMaps, configMap("a")),
      post(widgets, widget("a")),
      ...[`${configMaps}/a`, `${widgets}/a`].flatMap((path) => [
        mergePatch(path, { kind: "Secret" }),
        mergePatch(path, { apiVersion: "v2" }),
        mergePatch(path, { kind: null }),
        mergePatch(path, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
        mergePatch(path, { metadata: { deletionGracePeriodSeconds: 5 } }),
        mergePatch(path, {
          metadata: { generation: 7, creationTimestamp: "2020-01-01T00:00:00Z" },
        }),
        jsonPatch(path, [{ op: "replace", path: "/kind", value: "Secret" }]),
      ]),
    ],
  },
  {
    name: "an index of a JSON patch counts from the end if it is below 0",
    steps: [
      post(widgets, widget("a", { color: "red", steps: ["a", "b", "c"] })),
      jsonPatch(`${widgets}/a`, [{ op: "replace", path: "/spec/steps/-1", value: "d" }]),
      jsonPatch(`${widgets}/a`, [{ op: "test", path: "/spec/steps/-1", value: "d" }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/steps/-1", value: "e" }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/steps/-4", value: "f" }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/steps/-6", value: "f" }]),
      jsonPatch(`${widgets}/a`, [{ op: "remove", path: "/spec/steps/-2" }]),
      jsonPatch(`${widgets}/a`, [{ op: "remove", path: "/spec/steps/-9" }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/steps/-9", value: "g" }]),
      jsonPatch(`${widgets}/a`, [{ op: "add", path: "/spec/steps/01", value: "h" }]),
      jsonPatch(`${widgets}/a`, [{ op: "copy", from: "/spec/steps/-1", path: "/spec/label" }]),
    ],
  },
  {
    name: "a patch with an empty list of managers keeps them, with an empty entry removes them",
    managers: true,
    steps: [
      post(widgets, widget("a"), { query: { fieldManager: "one" } }),
      jsonPatch(`${widgets}/a`, [{ op: "replace", path: "/metadata/managedFields", value: [] }]),
      jsonPatch(`${widgets}/a`, [{ op: "replace", path: "/metadata/managedFields", value: [{}] }]),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }, { query: { fieldManager: "two" } }),
      apply(
        `${widgets}/a`,
        {
          apiVersion: "conformance.example.org/v1",
          kind: "Widget",
          metadata: { name: "a" },
          spec: { color: "red", size: 3 },
        },
        { manager: "three", force: true },
      ),
      mergePatch(`${widgets}/a`, { metadata: { managedFields: [{}] } }),
      put(`${widgets}/a`, widget("a", { color: "red" }, { managedFields: [{}] })),
    ],
  },
  {
    name: "a patch of another media type is 415",
    steps: [
      post(widgets, widget("a")),
      { ...mergePatch(`${widgets}/a`, { spec: { size: 2 } }), contentType: "application/json" },
      { ...mergePatch(`${widgets}/a`, { spec: { size: 2 } }), contentType: "text/plain" },
      {
        ...mergePatch(`${widgets}/a`, { spec: { size: 2 } }),
        contentType: "application/strategic-merge-patch+json",
      },
    ],
  },
];
