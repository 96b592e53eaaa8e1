import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRecording } from "../../conformance/recordings.ts";
import { callersOf, namespaceOf, needsForgetting } from "../../conformance/script.ts";
import { scripts } from "../../conformance/scripts.ts";

const all = Object.values(scripts).flat();

describe("the scripts for Kubernetes", () => {
  test("have unique names and namespaces", () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(new Set(all.map(namespaceOf)).size).toBe(all.length);
  });

  test("are recorded completely, with a response for each step", () => {
    const files = readdirSync(new URL("../../conformance/recordings", import.meta.url));
    expect(files).toEqual(
      Object.keys(scripts)
        .map((group) => `${group}.json`)
        .sort(),
    );
    for (const [group, members] of Object.entries(scripts)) {
      const recorded = Object.entries(readRecording(group));
      const lengths = recorded.map(([name, steps]) => [name, (steps as unknown[]).length]);
      expect(lengths).toEqual(members.map(({ name, steps }) => [name, steps.length]));
    }
  });

  test("name a reason and an existing step for each uncompared field", () => {
    for (const { steps, uncompared = [] } of all)
      for (const { path, reason } of uncompared) {
        const [step] = path.split(".");
        expect(step === "*" || steps[Number(step)] !== undefined).toBe(true);
        expect(reason).toMatch(/\w{3}/);
      }
  });

  test("name their needs beside a server", () => {
    expect(all.filter(needsForgetting).map(({ name }) => name)).toEqual([
      "a token of a compacted version is 410 Expired with a token that goes on",
      "a list at an exact version shows that version, and 410 once it is compacted",
      "a watch from a compacted version is 410 in the stream",
      "a watch from the newest version survives a compaction",
    ]);
    const callers = new Set(all.flatMap((script) => [...callersOf(script)]));
    expect([...callers].sort()).toEqual(["admin", "bound", "cluster-bound", "stranger", "viewer"]);
  });
});
