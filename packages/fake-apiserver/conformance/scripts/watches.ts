import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { configMap, get, mergePatch, post, put, remove, watch, widget } from "../steps.ts";

const { configMaps, widgets } = paths;

const METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const STREAMED = {
  allowWatchBookmarks: "true",
  sendInitialEvents: "true",
  resourceVersionMatch: "NotOlderThan",
};

/** A watch of 10 s from the version of a step's answer. */
const untilItsEnd = (id: string) => ({
  allowWatchBookmarks: "true",
  resourceVersion: `$(${id}.metadata.resourceVersion)`,
  timeoutSeconds: "10",
});

/** Watches: versions, selectors, bookmarks, streamed lists. */
export const watches: readonly Script[] = [
  {
    name: "a watch from a version shows every later change in order",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" })),
      post(configMaps, configMap("b")),
      remove(`${configMaps}/a`),
      post(configMaps, configMap("a", { text: "three" })),
      watch(configMaps, { take: 4 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a watch from any version in the history begins there",
    steps: [
      post(widgets, widget("a"), { id: "one" }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }, { id: "two" }),
      mergePatch(`${widgets}/a`, { spec: { size: 3 } }, { id: "three" }),
      mergePatch(`${widgets}/a`, { spec: { size: 4 } }),
      watch(widgets, { take: 3 }, { resourceVersion: "$(one.metadata.resourceVersion)" }),
      watch(widgets, { take: 2 }, { resourceVersion: "$(two.metadata.resourceVersion)" }),
      watch(widgets, { take: 1 }, { resourceVersion: "$(three.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a watch from the version of a list misses nothing and repeats nothing",
    steps: [
      post(configMaps, configMap("a")),
      post(configMaps, configMap("b")),
      get(configMaps, { id: "all" }),
      post(configMaps, configMap("c")),
      watch(configMaps, { take: 1 }, { resourceVersion: "$(all.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "an open watch shows changes as they come",
    steps: [
      get(configMaps, { id: "all" }),
      watch(
        configMaps,
        { take: 0, hold: true },
        { resourceVersion: "$(all.metadata.resourceVersion)" },
        { id: "open" },
      ),
      post(configMaps, configMap("a", { text: "one" })),
      { read: "open", take: 1 },
      mergePatch(`${configMaps}/a`, { data: { text: "two" } }),
      remove(`${configMaps}/a`),
      { read: "open", take: 2 },
    ],
    uncompared: [
      { path: "0.body.metadata.resourceVersion", reason: "nothing to relate it to", on: "fake" },
    ],
  },
  {
    name: "a watch without a version begins with what exists",
    steps: [
      post(configMaps, configMap("a")),
      post(configMaps, configMap("b")),
      watch(configMaps, { take: 2, hold: true }, {}, { id: "open" }),
      post(configMaps, configMap("c")),
      { read: "open", take: 1 },
    ],
  },
  {
    name: "a watch ends after its timeout",
    steps: [
      post(configMaps, configMap("a"), { id: "first" }),
      watch(
        configMaps,
        { take: "end" },
        { resourceVersion: "$(first.metadata.resourceVersion)", timeoutSeconds: "1" },
      ),
    ],
  },
  {
    name: "a watch with a label selector tells of objects that begin or cease to match",
    steps: [
      post(configMaps, configMap("a"), { id: "first" }),
      mergePatch(`${configMaps}/a`, { metadata: { labels: { app: "x" } } }),
      mergePatch(`${configMaps}/a`, { data: { text: "one" } }),
      mergePatch(`${configMaps}/a`, { metadata: { labels: { app: "y" } } }),
      mergePatch(`${configMaps}/a`, { data: { text: "two" } }),
      mergePatch(`${configMaps}/a`, { metadata: { labels: { app: "x" } } }),
      remove(`${configMaps}/a`),
      watch(
        configMaps,
        { take: 5 },
        {
          resourceVersion: "$(first.metadata.resourceVersion)",
          labelSelector: "app=x",
        },
      ),
    ],
  },
  {
    name: "a watch of one name shows that object alone",
    steps: [
      post(configMaps, configMap("a"), { id: "first" }),
      post(configMaps, configMap("b")),
      mergePatch(`${configMaps}/a`, { data: { text: "one" } }),
      post(configMaps, configMap("c")),
      remove(`${configMaps}/a`),
      watch(
        configMaps,
        { take: 2 },
        {
          resourceVersion: "$(first.metadata.resourceVersion)",
          fieldSelector: "metadata.name=a",
        },
      ),
    ],
  },
  {
    name: "a watch over all namespaces is filtered by namespace",
    steps: [
      post(configMaps, configMap("a"), { id: "first" }),
      post(configMaps, configMap("b")),
      watch(
        "/api/v1/configmaps",
        { take: 1 },
        {
          resourceVersion: "$(first.metadata.resourceVersion)",
          fieldSelector: "metadata.namespace=$(namespace)",
        },
      ),
    ],
  },
  {
    name: "a watch of metadata alone has events without spec",
    steps: [
      post(widgets, widget("a"), { id: "first" }),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }),
      watch(
        widgets,
        { take: 1 },
        { resourceVersion: "$(first.metadata.resourceVersion)" },
        { accept: METADATA },
      ),
    ],
  },
  {
    name: "a watch from a compacted version is 410 in the stream",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      put(`${configMaps}/a`, configMap("a", { text: "two" })),
      put(`${configMaps}/a`, configMap("a", { text: "three" })),
      { server: "forget" },
      watch(configMaps, { take: "end" }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a watch from the newest version survives a compaction",
    steps: [
      post(configMaps, configMap("a", { text: "one" }), { id: "first" }),
      { server: "forget" },
      post(configMaps, configMap("b")),
      watch(configMaps, { take: 1 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a watch from a version that is none is refused",
    steps: [
      watch(configMaps, { take: "end" }, { resourceVersion: "nonsense" }),
      watch(configMaps, { take: "end" }, { resourceVersion: "1", resourceVersionMatch: "Exact" }),
      watch(configMaps, { take: "end" }, { resourceVersion: "1", sendInitialEvents: "true" }),
    ],
  },
  {
    name: "a streamed list ends its initial events with a bookmark",
    steps: [
      post(configMaps, configMap("a")),
      post(configMaps, configMap("b")),
      watch(configMaps, { take: 3, bookmarks: true, hold: true }, STREAMED, { id: "open" }),
      post(configMaps, configMap("c")),
      { read: "open", take: 1 },
    ],
  },
  {
    name: "a watch gets a bookmark before its end if something changed since it began",
    steps: [
      post(widgets, widget("a"), { id: "first" }),
      watch(widgets, { take: "end", bookmarks: true }, untilItsEnd("first")),
      mergePatch(`${widgets}/a`, { spec: { size: 2 } }, { id: "second" }),
      watch(widgets, { take: "end", bookmarks: true }, untilItsEnd("first")),
      watch(widgets, { take: 0, bookmarks: true, hold: true }, untilItsEnd("second"), {
        id: "open",
      }),
      mergePatch(`${widgets}/a`, { spec: { size: 3 } }),
      { read: "open", take: 2 },
    ],
  },
  {
    name: "a deleted event has the version of the deletion and the last state",
    steps: [
      post(widgets, widget("a", { color: "red" }, { labels: { app: "x" } }), { id: "first" }),
      remove(`${widgets}/a`),
      post(widgets, widget("b")),
      watch(widgets, { take: 2 }, { resourceVersion: "$(first.metadata.resourceVersion)" }),
    ],
  },
];
