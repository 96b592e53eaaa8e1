import type { Script } from "../script.ts";
import { apply, get, jsonPatch, mergePatch, post, put, remove, watch } from "../steps.ts";

const tasks = (version: string) =>
  `/apis/converted.example.org/${version}/namespaces/$(namespace)/tasks`;
const [FIRST, SECOND] = [`${tasks("v1")}/a`, `${tasks("v2")}/a`];

const task = (version: string, spec: object, metadata: object = {}, name = "a") => ({
  apiVersion: `converted.example.org/${version}`,
  kind: "Task",
  metadata: { name, ...metadata },
  spec,
});
const first = (spec: object = {}, metadata = {}) =>
  task("v1", { schedule: "5 4", ...spec }, metadata);
const second = (spec: object = {}, metadata = {}) =>
  task("v2", { at: { minute: "5", hour: "4" }, ...spec }, metadata);
const BROKEN = { annotations: { broken: "1" } };

/** Scripts about a resource whose versions a webhook converts. */
export const conversions: readonly Script[] = [
  {
    name: "an object is read in the version that is asked for",
    managers: true,
    steps: [
      post(tasks("v1"), first({ zone: "CET", own: "kept" }), { id: "made" }),
      get(FIRST),
      get(SECOND),
      get(tasks("v1")),
      get(tasks("v2")),
      watch(tasks("v2"), { take: 1 }, { resourceVersion: "0" }),
      post(tasks("v2"), task("v2", { at: { hour: "7" }, timeZone: "UTC" }, {}, "b")),
      get(`${tasks("v1")}/b`),
      get(`${tasks("v2")}/b`),
      watch(tasks("v1"), { take: 1 }, { resourceVersion: "$(made.metadata.resourceVersion)" }),
    ],
  },
  {
    name: "a write in a version that is not stored keeps what both versions have",
    managers: true,
    steps: [
      post(tasks("v1"), first({ zone: "CET", own: "lost" })),
      mergePatch(SECOND, { spec: { at: { hour: "9" } } }),
      get(FIRST),
      mergePatch(SECOND, { metadata: { labels: { a: "1" } } }),
      jsonPatch(SECOND, [{ op: "remove", path: "/spec/timeZone" }], { id: "last" }),
      get(FIRST),
      put(SECOND, second({}, { resourceVersion: "$(last.metadata.resourceVersion)" })),
      mergePatch(`${SECOND}/status`, { status: { runs: 1 } }),
      get(FIRST),
      mergePatch(SECOND, { spec: { at: { hour: "4" } } }),
    ],
  },
  {
    name: "two managers apply in two versions, and both keep their fields",
    managers: true,
    steps: [
      apply(FIRST, first(), { manager: "one" }),
      apply(SECOND, task("v2", { timeZone: "CET" }), { manager: "two" }),
      apply(FIRST, first(), { manager: "one" }),
      apply(SECOND, task("v2", { timeZone: "UTC" }), { manager: "two" }),
      apply(SECOND, second({ at: { minute: "1", hour: "1" } }), { manager: "two" }),
      apply(FIRST, first({ zone: "MEZ" }), { manager: "one" }),
      apply(SECOND, task("v2", {}), { manager: "two" }),
      get(FIRST),
      get(SECOND),
    ],
  },
  {
    name: "a manager that applies in a newer version takes its fields along",
    managers: true,
    steps: [
      apply(FIRST, first({ zone: "CET" }), { manager: "one" }),
      apply(SECOND, second(), { manager: "one" }),
      get(FIRST),
      apply(SECOND, second({ timeZone: "UTC" }), { manager: "one" }),
      apply(FIRST, first(), { manager: "one" }),
      get(SECOND),
    ],
  },
  {
    name: "a watch is silent while an object does not convert",
    steps: [
      post(tasks("v1"), first(), { id: "made" }),
      watch(
        tasks("v2"),
        { take: 0, hold: true },
        { resourceVersion: "$(made.metadata.resourceVersion)" },
        { id: "watched" },
      ),
      mergePatch(FIRST, { metadata: { annotations: { broken: "1" } } }),
      post(tasks("v1"), task("v1", { schedule: "1 1" }, {}, "b")),
      mergePatch(FIRST, { metadata: { annotations: { broken: null, mended: "1" } } }),
      { read: "watched", take: 2 },
    ],
  },
  {
    name: "an object that does not convert is there in the stored version alone",
    messages: true,
    steps: [
      post(tasks("v1"), first({}, BROKEN)),
      get(FIRST),
      get(SECOND),
      get(tasks("v1")),
      get(tasks("v2")),
      post(tasks("v2"), second({}, BROKEN)),
      mergePatch(SECOND, { spec: { timeZone: "CET" } }),
      remove(SECOND),
      mergePatch(FIRST, { metadata: { annotations: null } }),
      get(SECOND),
      remove(SECOND),
    ],
  },
];
