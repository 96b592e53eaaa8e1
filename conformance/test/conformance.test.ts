import { describe, expect, inject, it } from "vitest";
import { drawn } from "../../test/drawn.ts";
import { alteredFiles } from "../src/checksums.ts";
import { type GoldenFile, readGoldenFile } from "../src/golden-file.ts";
import { replaySection, type SectionReport, unusedRules } from "../src/replay.ts";
import { sections } from "../src/sections.ts";
import { shipped } from "./golden-directory.ts";

const files = new Map<string, GoldenFile>();

/** A file, read once for all of its sections. */
function golden(name: string): GoldenFile {
  const file = files.get(name) ?? readGoldenFile(shipped, name);
  files.set(name, file);
  return file;
}

describe("the golden data", () => {
  it("equals its recording", () => {
    expect(alteredFiles(shipped)).toEqual([]);
  });
});

describe("replayed through the public API", () => {
  const reports: SectionReport[] = [];

  it.each(sections)("gives what Go gives, or what a rule says: $file $name", async (section) => {
    const cases = drawn(golden(section.file).cases.get(section.name) ?? [], 10);
    const report = await replaySection(section, cases);
    expect(report.problems).toEqual([]);
    const outcomes = section.fields.filter((field) => !field.startsWith("in."));
    // Every section compares each case, by more than one value where more than one is recorded.
    expect(report.compared).toBeGreaterThan(cases.length - (outcomes.length === 1 ? 1 : 0));
    reports.push(report);
  });

  it.runIf(inject("isAll"))("needs every rule", () => {
    expect(reports).toHaveLength(sections.length);
    expect(unusedRules(reports)).toEqual([]);
  });
});
