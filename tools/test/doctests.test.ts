import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hashOfSources } from "../../test/doc-example.ts";
import { expectPrinted } from "../../test/expect-printed.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { examplesOf, faultOf, moduleOf, testOf } from "../doctests.mjs";

const guide = `# Guide
\`\`\`ts
console.log("a"); // => a
print();
// => b
\`\`\`
\`\`\`sh
npm test # // => not this
\`\`\`
\`\`\`\`md
\`\`\`ts
a block inside a block
\`\`\`
\`\`\`\`
1. In a list:
   \`\`\`typescript no-run
   forever();
   \`\`\`
`;

const source = `/**
 * Adds.
 *
 * @example
 * \`\`\`ts
 * console.log(add(1, 1)); // => 2
 *
 * add(2, 2);
 * \`\`\`
 */
export function add() {}
`;

describe("examplesOf", () => {
  it("finds the TypeScript blocks of Markdown, with their expected output", () => {
    expect(examplesOf("docs/guide.md", guide)).toEqual([
      {
        line: 2,
        code: ['console.log("a"); // => a', "print();", "// => b"],
        words: [],
        claims: [
          { line: 3, text: "a" },
          { line: 5, text: "b" },
        ],
      },
      { line: 16, code: ["   forever();"], words: ["no-run"], claims: [] },
    ]);
  });

  it("finds the TypeScript blocks of a documentation comment", () => {
    expect(examplesOf("packages/wait/src/add.ts", source)).toEqual([
      {
        line: 5,
        code: ["console.log(add(1, 1)); // => 2", "", "add(2, 2);"],
        words: [],
        claims: [{ line: 6, text: "2" }],
      },
    ]);
  });

  it("names the line of a block that is never closed", () => {
    expect(() => examplesOf("README.md", "text\n```ts\ncode")).toThrow("README.md:2");
  });
});

it("keeps the line numbers of the documentation in the module", () => {
  for (const example of examplesOf("docs/guide.md", guide)) {
    const lines = moduleOf("docs/guide.md", example).split("\n");
    expect(lines[example.line]).toBe(guide.split("\n")[example.line]);
  }
});

it.each([
  ["docs/guide.md", "ignore", "docs/guide.md:7: `ts ignore` is not allowed here"],
  ["README.md", "norun", "README.md:7: `ts norun` is not allowed here"],
  ["docs/guide.md", "no-run", undefined],
  ["docs/adr/0001-packages-and-bundles.md", "ignore", undefined],
])("in %s judges `ts %s`", (file, word, fault) => {
  const found = faultOf(file, { line: 7, code: [], words: [word], claims: [] });
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});

describe("an example that has passed", () => {
  const hashOf = (code: string, line: number) =>
    /"hash":"(\w+)"/.exec(testOf("a.md", "a.md/L1.ts", { line, code: [code], claims: [] }))?.[1];

  it("runs again when its text changes, and not when it moves", () => {
    expect(hashOf("a();", 7)).toBe(hashOf("a();", 1));
    expect(hashOf("b();", 1)).not.toBe(hashOf("a();", 1));
  });

  it("runs again when a source or the lockfile changes", () => {
    const root = tempFolder();
    mkdirSync(join(root, "packages/wait/src/loop"), { recursive: true });
    const hashes = [
      ["pnpm-lock.yaml", ""],
      ["packages/wait/src/loop/loop.ts", "1"],
      ["packages/wait/src/loop/loop.ts", "2"],
      ["pnpm-lock.yaml", "wait: 2"],
      ["packages/wait/README.md", "no source"],
    ].map(([path = "", text = ""]) => {
      writeFileSync(join(root, path), text);
      return hashOfSources(root);
    });
    expect(new Set(hashes).size).toBe(4);
    expect(hashes[4]).toBe(hashes[3]);
  });
});

describe("expectPrinted", () => {
  const claims = [
    { line: 3, text: "1" },
    { line: 4, text: "[ 2 ]" },
  ];

  it("accepts the claimed output", async () => {
    await expectPrinted(async () => {
      console.log(1);
      console.log([2]);
    }, claims);
  });

  it.each([
    ["another value", [1, [3]]],
    ["a missing line", [1]],
    ["a line that is not claimed", [1, [2], 3]],
  ])("rejects %s", async (_, values) => {
    const run = async () => {
      for (const value of values) console.log(value);
    };
    await expect(expectPrinted(run, claims)).rejects.toThrow("what the example prints");
  });

  it("restores the time that a failed example left faked", async () => {
    const real = [globalThis.setTimeout, globalThis.Date];
    const run = async () => {
      vi.useFakeTimers();
      throw new Error("forgot to restore");
    };
    await expect(expectPrinted(run, [])).rejects.toThrow("forgot");
    expect([globalThis.setTimeout, globalThis.Date]).toEqual(real);
  });
});
