import { expect, it } from "vitest";
import { diff } from "../../src/run/core/diff.ts";
import type { ProcessSpec } from "../../src/run/manifest/manifest.ts";
import { parseManifest } from "../../src/run/manifest/parse-manifest.ts";

function specs(processes: string): ReadonlyMap<string, ProcessSpec> {
  const parsed = parseManifest(`processes: { ${processes} }`, "my.yaml");
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  return parsed.manifest.processes;
}

interface Case {
  readonly name: string;
  readonly current: string;
  readonly wanted: string;
  readonly want: readonly string[];
}

it.each<Case>([
  {
    name: "nothing where nothing changed",
    current: "a: {command: x}",
    wanted: "a: {command: x}",
    want: [],
  },
  { name: "a start", current: "", wanted: "a: {command: x}", want: ["start a"] },
  { name: "a stop", current: "a: {command: x}", wanted: "", want: ["stop a"] },
  {
    name: "a restart for a changed argument",
    current: "a: {command: x, args: [y]}",
    wanted: "a: {command: x, args: [z]}",
    want: ["restart a"],
  },
  {
    name: "a restart for a changed variable",
    current: "a: {command: x}",
    wanted: "a: {command: x, env: {A: 1}}",
    want: ["restart a"],
  },
  {
    name: "an update in place for a changed policy",
    current: "a: {command: x}",
    wanted: "a: {command: x, restart: Never}",
    want: ["update a"],
  },
  {
    name: "an update in place for a changed probe",
    current: "a: {command: x, readiness: {http: auto}}",
    wanted: "a: {command: x, readiness: {http: auto, path: /healthz}}",
    want: ["update a"],
  },
  {
    name: "a restart for another port, which is in the environment",
    current: "a: {command: x, readiness: {http: 80}}",
    wanted: "a: {command: x, readiness: {http: 81}}",
    want: ["restart a"],
  },
  {
    name: "nothing for a default that is now written",
    current: "a: {command: x}",
    wanted: "a: {command: x, restart: Always}",
    want: [],
  },
  {
    name: "a stop and a start for a new name, the stop first",
    current: "a: {command: x}",
    wanted: "b: {command: x}",
    want: ["stop a", "start b"],
  },
])("finds $name", ({ current, wanted, want }) => {
  const actions = diff(specs(current), specs(wanted));
  expect(actions.map(({ kind, name }) => `${kind} ${name}`)).toEqual(want);
});
