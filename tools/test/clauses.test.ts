import { describe, expect, it } from "vitest";
import { clausesOf, excesses } from "../clauses.mjs";

describe("clausesOf", () => {
  it("finds clauses in comments, strings and templates of code", () => {
    const code = [
      "/** What was added twice. */",
      "// Nobody waits here.",
      'const text = "whoever asks";',
      `const both = \`who \${name} and what\`;`,
    ].join("\n");
    expect(clausesOf("a.ts", code).map(({ line }) => line)).toEqual([1, 2, 3, 4, 4]);
  });

  it("ignores identifiers of code", () => {
    expect(clausesOf("a.ts", "const what = who({ nobody: whatever.somebody });")).toEqual([]);
  });

  it("ignores inline code of Markdown and longer words", () => {
    expect(clausesOf("a.md", "Run `who` on somewhat whole what-if cases.")).toEqual([]);
  });

  it("reports the line and its text", () => {
    expect(clausesOf("a.md", "One.\n\n  It says what it did.")).toEqual([
      { line: 3, text: "It says what it did." },
    ]);
  });
});

describe("excesses", () => {
  it.each([
    { count: 29, lines: [] },
    { count: 30, lines: ["docs: 30 clauses, allowed: fewer than 30"] },
  ])("$count clauses with a limit of 30", ({ count, lines }) => {
    expect(excesses({ docs: count }, { docs: 30 })).toEqual(lines);
  });

  it("allows no clause in an area without a limit", () => {
    expect(excesses({ other: 0 }, {})).toHaveLength(1);
  });
});
