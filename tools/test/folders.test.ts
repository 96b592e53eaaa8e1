import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));

/** The TypeScript files beside the folders of a package's sources. */
function rootFiles(name: string): string[] {
  const entries = readdirSync(`${packages}/${name}/src`, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

it.each<{ name: string; files: string[] }>([
  { name: "wait", files: ["index.ts"] },
  {
    name: "clock",
    files: [
      "base-clock.ts",
      "base-timer.ts",
      "clock.ts",
      "index.ts",
      "real-clock.ts",
      "sleep.ts",
      "ticker.ts",
      "timeout-signal.ts",
    ],
  },
])("packages/$name/src keeps every other file in a folder", ({ name, files }) => {
  expect(rootFiles(name).sort()).toEqual(files);
});

it("the median source file of wait has 40 to 120 lines", () => {
  const source = `${packages}/wait/src`;
  const lengths = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`${source}/${file}`, "utf8").split("\n").length - 1)
    .sort((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)];
  expect(median).toBeGreaterThanOrEqual(40);
  expect(median).toBeLessThanOrEqual(120);
});
