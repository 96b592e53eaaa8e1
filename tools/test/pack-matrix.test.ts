import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import { jestGuideOf } from "../pack-matrix/jest-guide.mjs";
import { managers } from "../pack-matrix/managers.mjs";
import { CONFIG, chosenIn, optionsOf } from "../pack-matrix/options.mjs";

const all = managers();
const parse = (args: string[]) => optionsOf(parseArgs({ ...CONFIG, args }), all);
const namesOf = (starts: string[]) =>
  chosenIn(all, parse(starts).starts).map(({ name }) => name.split(" ")[0]);

describe("the arguments of the matrix", () => {
  it("choose package managers by the start of their names, and all of them by default", () => {
    expect(namesOf([])).toEqual(["npm", "pnpm", "yarn", "yarn", "yarn", "bun"]);
    expect(namesOf(["yarn 1", "b"])).toEqual(["yarn", "bun"]);
    expect(namesOf(["yarn 4"])).toEqual(["yarn", "yarn"]);
  });

  it.each([
    { args: ["cargo"], message: /^no package manager begins with "cargo"$/ },
    { args: ["--seed", "abc"], message: /'--seed'/ },
    { args: ["--tarballs"], message: /--tarballs/ },
    { args: ["--tarballs", "/gone"], message: /^--tarballs: there is no folder \/gone$/ },
  ])("refuse $args", ({ args, message }) => {
    expect(() => parse(args)).toThrow(message);
  });
});

describe("the guide of jest, which the matrix follows", () => {
  const text = readFileSync(
    fileURLToPath(new URL("../../docs/test-runners.md", import.meta.url)),
    "utf8",
  );

  it("has an installation, two configurations, a function and its test", () => {
    const { packages, projects } = jestGuideOf(text);
    expect(packages).toContain("@swc/jest");
    const files = ["package.json", "jest.config.js", "src/get-text.ts", "src/get-text.test.ts"];
    for (const project of Object.values(projects)) {
      expect(Object.keys(project)).toEqual(files);
      expect(project["src/get-text.ts"]).toMatch(/^import .*@holdfast\/clock"/);
      expect(project["src/get-text.test.ts"]).toContain("jest.spyOn");
    }
    expect(projects.esm["jest.config.js"]).toContain("export default");
    expect(projects.commonjs["jest.config.js"]).toContain("module.exports");
  });

  it("calls the function as the tests of the other runners do", () => {
    const calls = [...text.matchAll(/getText\("[^)]*\)/g)].map(([call]) => call);
    expect(calls).toHaveLength(3);
    expect(new Set(calls).size).toBe(1);
  });

  it.each([
    { what: "an ESM config", gone: "export default {" },
    { what: "a CommonJS config", gone: "module.exports" },
    { what: "a test", gone: 'from "@jest/globals"' },
    { what: "an installation", gone: "npm install --save-dev jest" },
  ])("is refused without $what", ({ what, gone }) => {
    expect(() => jestGuideOf(text.replace(gone, "gone"))).toThrow(
      `the guide of jest has 0 blocks with ${what}, not one`,
    );
  });
});
