import { FORMATS, NUMBER_FORMATS } from "../formats.ts";
import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { get, mergePatch, post, widget } from "../steps.ts";

const { formats, widgets } = paths;

/** What the schema of a custom resource does to objects. */
export const schemas: readonly Script[] = [
  {
    name: "missing fields get the defaults of the schema",
    steps: [
      post(widgets, widget("a", { color: "red", ports: [{ name: "web" }] })),
      mergePatch(`${widgets}/a`, { spec: { size: null, isOn: null } }),
    ],
  },
  {
    name: "unknown fields are pruned and warned of",
    steps: [
      post(widgets, { ...widget("a", { color: "red", unknown: 1, extra: { any: 1 } }), other: 2 }),
      get(`${widgets}/a`),
      mergePatch(`${widgets}/a`, { spec: { unknown: 2 } }),
      mergePatch(`${widgets}/a/status`, { status: { unknown: 3, phase: "ready" } }),
      mergePatch(`${widgets}/a`, { metadata: { unknown: "4" } }),
    ],
  },
  {
    name: "strict field validation refuses unknown fields, no validation prunes them",
    steps: [
      post(widgets, widget("a", { color: "red", unknown: 1 }), {
        query: { fieldValidation: "Strict" },
      }),
      post(widgets, widget("a", { color: "red", unknown: 1 }), {
        query: { fieldValidation: "Ignore" },
      }),
      mergePatch(
        `${widgets}/a`,
        { spec: { unknown: 1 } },
        { query: { fieldValidation: "Strict" } },
      ),
      post(widgets, widget("b"), { query: { fieldValidation: "Sometimes" } }),
    ],
  },
  {
    name: "a value against the schema is 422 with its field",
    steps: [
      post(widgets, widget("a", { color: "pink" })),
      post(widgets, widget("a", {})),
      post(widgets, widget("a", { color: "red", size: 0 })),
      post(widgets, widget("a", { color: "red", size: 101 })),
      post(widgets, widget("a", { color: "red", size: "many" })),
      post(widgets, widget("a", { color: "red", size: 1.5 })),
      post(widgets, widget("a", { color: "red", label: "NOT LOWER" })),
      post(widgets, widget("a", { color: "red", label: "x".repeat(21) })),
      post(widgets, widget("a", { color: "red", tags: ["x", "x"] })),
      post(widgets, widget("a", { color: "red", ports: [{ name: "web" }, { name: "web" }] })),
      post(widgets, widget("a", { color: "red", ports: [{ port: 80 }] })),
      post(widgets, widget("a", { color: "red", settings: { one: 1 } })),
      post(widgets, { ...widget("a"), spec: undefined }),
    ],
    uncompared: [
      {
        path: "5.body.details.causes",
        reason: "the server adds a cause without a field: rules that it has not checked",
        on: "fake",
      },
    ],
  },
  {
    name: "several wrong values have a cause each",
    steps: [post(widgets, widget("a", { color: "pink", size: 0, label: "NOT" }))],
  },
  {
    name: "a wrong value in a patch or a status is 422 and changes nothing",
    steps: [
      post(widgets, widget("a")),
      mergePatch(`${widgets}/a`, { spec: { color: null } }),
      mergePatch(`${widgets}/a`, { spec: { size: 1_000 } }),
      mergePatch(`${widgets}/a/status`, { status: { conditions: [{ type: "Ready" }] } }),
      get(`${widgets}/a`),
    ],
  },
  {
    name: "a null stays where the schema allows it, else the default takes its place",
    steps: [post(widgets, widget("a", { color: "red", note: null, size: null }))],
  },
  {
    name: "a wrong label or annotation is 422",
    steps: [
      post(widgets, widget("a", { color: "red" }, { labels: { "not a name": "x" } })),
      post(widgets, widget("a", { color: "red" }, { labels: { app: "not a value" } })),
      post(widgets, widget("a", { color: "red" }, { labels: { app: 1 } })),
      post(widgets, widget("a", { color: "red" }, { annotations: { "not a name": "x" } })),
    ],
  },
  ...Object.entries(FORMATS).map(([format, values]) => ({
    name: `values of the format ${format} are checked`,
    steps: [post(formats, formatted({ [format]: values }))],
  })),
  ...Object.entries(NUMBER_FORMATS).map(([format, { values }]) => ({
    name: `numbers of the format ${format} are checked`,
    steps: values.map((value) =>
      post(formats, formatted({ [format]: value }), { query: { dryRun: "All" } }),
    ),
  })),
];

function formatted(spec: object): object {
  return {
    apiVersion: "conformance.example.org/v1",
    kind: "Format",
    metadata: { name: "a" },
    spec,
  };
}
