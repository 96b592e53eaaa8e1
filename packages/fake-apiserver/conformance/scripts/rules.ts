import { CEL_RULES } from "../cel-rules.ts";
import { paths } from "../resources.ts";
import type { Script, Step, Uncompared } from "../script.ts";
import { get, jsonPatch, mergePatch, post, put } from "../steps.ts";

const { rules: collection } = paths;
const DRY_RUN = { query: { dryRun: "All" } };

function checked(name: string, spec: object, metadata: object = {}): object {
  const apiVersion = "conformance.example.org/v1";
  return { apiVersion, kind: "Rule", metadata: { name, ...metadata }, spec };
}

const literal = CEL_RULES.filter(({ schema }) => "type" in schema && schema.type === "boolean");
const beyond = literal.filter(({ name }) => /^unevaluated/.test(name));
const expressions = literal.filter((rule) => !beyond.includes(rule));
const others = CEL_RULES.filter((rule) => !literal.includes(rule));

/** A new object for each value, which all fields have. */
function all(fields: typeof literal): Step[] {
  return [true, false].map((value) =>
    post(
      collection,
      checked("a", Object.fromEntries(fields.map(({ name }) => [name, value]))),
      DRY_RUN,
    ),
  );
}

/** An object before and after an update. A field without a value is left out. */
function update(field: string, values: readonly [unknown, unknown], name: string): Step[] {
  const [before, after] = values.map((value) => (value === undefined ? {} : { [field]: value }));
  return [
    post(collection, checked(name, before as object), { id: name }),
    put(
      `${collection}/${name}`,
      checked(name, after as object, { resourceVersion: `$(${name}.metadata.resourceVersion)` }),
    ),
  ];
}

const SETS: Uncompared[] = [
  { path: "1", reason: "the fake server compares sets as lists", on: "fake" },
];

/** Rules of custom resources, in CEL. */
export const rules: readonly Script[] = [
  {
    name: "functions of CEL are evaluated",
    messages: true,
    steps: all(expressions),
  },
  {
    name: "functions of CEL that the library of the fake server lacks",
    messages: true,
    steps: all(beyond),
    uncompared: ["0", "1"].map((path) => ({
      path,
      reason: "the fake server reports such rules and does not evaluate them",
      on: "fake" as const,
    })),
  },
  ...others.map(({ name, values, updates = [] }) => ({
    name: `the rule ${name} decides`,
    messages: true,
    steps: [
      ...values.map((value) => post(collection, checked("a", { [name]: value }), DRY_RUN)),
      ...updates.flatMap((values, index) => update(name, values, `update-${index}`)),
    ],
    ...(name === "setOf" && { uncompared: SETS }),
  })),
  {
    name: "a rule of the whole object sees its name",
    messages: true,
    steps: [post(collection, checked("forbidden", {})), post(collection, checked("allowed", {}))],
  },
  {
    name: "a rule is not evaluated where the schema is broken",
    steps: [
      post(collection, checked("a", { minimum: "x" })),
      post(collection, checked("a", { pathed: { min: "x", max: 1 }, minimum: 1 })),
    ],
  },
  {
    name: "rules hold for patches, and for the status alone those of the status",
    messages: true,
    steps: [
      post(collection, checked("a", { minimum: 4 })),
      mergePatch(`${collection}/a`, { spec: { minimum: 1 } }),
      jsonPatch(`${collection}/a`, [{ op: "add", path: "/spec/fixed", value: "x" }]),
      jsonPatch(`${collection}/a`, [{ op: "replace", path: "/spec/fixed", value: "y" }]),
      mergePatch(`${collection}/a/status`, { status: {} }),
      get(`${collection}/a`),
    ],
  },
];
