import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../src/index.ts", import.meta.url);

/** Modules of other packages and of the platform that a file imports, by itself or through others. */
function importsOf(file: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(file.href)) return new Set();
  seen.add(file.href);
  const code = readFileSync(file, "utf8").replace(/\/\*.*?\*\//gs, "");
  const modules = [...code.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
  return modules.reduce<Set<string>>((found, name) => {
    if (!name.startsWith(".")) return found.add(name);
    for (const inner of importsOf(new URL(name, file), seen)) found.add(inner);
    return found;
  }, new Set());
}

it("the root imports our packages only, so that it loads in a browser or a worker", () => {
  expect([...importsOf(root)].sort()).toEqual([
    "@holdfast/clock",
    "@holdfast/kit",
    "@holdfast/wait",
    "@holdfast/wait/limit",
    "@holdfast/wait/loop",
  ]);
});

it("finds the imports of the lock on files", () => {
  const fileLock = new URL("../src/file-lock/index.ts", import.meta.url);
  expect([...importsOf(fileLock)]).toContain("node:fs/promises");
});
