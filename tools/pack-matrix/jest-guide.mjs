// The section "Jest" of docs/test-runners.md, as a reader follows it: what is installed, and the files of a
// package that is ESM and of one that is CommonJS.

/**
 * @typedef {object} JestGuide
 * @property {string[]} packages - that the reader installs
 * @property {{ esm: Record<string, string>, commonjs: Record<string, string> }} projects - files by path
 */

/**
 * @param {string} text - of the guide
 * @returns {JestGuide}
 */
export function jestGuideOf(text) {
  const [before = "", section = ""] = text.split(/^## Jest$/m);
  const blocks = blocksOf(section.split(/^## /m)[0] ?? "");
  const only = (what, wanted) => {
    const [found, ...others] = blocks.filter(wanted);
    if (found !== undefined && others.length === 0) return found.code;
    const count = found === undefined ? 0 : others.length + 1;
    throw new Error(`the guide of jest has ${count} blocks with ${what}, not one`);
  };
  const isConfig = ({ code }) => code.startsWith("// jest.config.js\n");
  const install = only("an installation", ({ code }) => code.startsWith("npm install "));
  const sources = {
    "src/get-text.ts": blocksOf(before).find(({ language }) => language === "ts")?.code ?? "",
    "src/get-text.test.ts": only("a test", ({ code }) => code.includes('from "@jest/globals"')),
  };
  const esm = only("an ESM config", (one) => isConfig(one) && one.code.includes("export default"));
  const commonjs = only(
    "a CommonJS config",
    (one) => isConfig(one) && one.code.includes("module.exports"),
  );
  return {
    packages: install.split(/\s+/).filter((word) => !/^(npm|install|-.*)?$/.test(word)),
    projects: {
      esm: { "package.json": '{ "type": "module" }', "jest.config.js": esm, ...sources },
      commonjs: { "package.json": "{}", "jest.config.js": commonjs, ...sources },
    },
  };
}

/** @returns {{ language: string, code: string }[]} */
function blocksOf(text) {
  return [...text.matchAll(/^```(\w+).*\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", code = ""]) => ({
      language,
      code,
    }),
  );
}
