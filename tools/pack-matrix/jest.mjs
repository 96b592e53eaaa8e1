// Consumers in jest: what the guide says, and Babel.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jestGuideOf } from "./jest-guide.mjs";
import { imports, passes, requires, suite, writeFiles } from "./runners.mjs";

/** The versions of the packages that the guide installs. */
const VERSIONS = {
  jest: "30.5.2",
  "@jest/globals": "30.5.2",
  "@swc/core": "1.16.18",
  "@swc/jest": "0.2.39",
};
/** What Babel needs to make CommonJS of ESM in jest; babel-jest brings the rest. */
const BABEL = "@babel/plugin-transform-modules-commonjs";

const guide = jestGuideOf(
  readFileSync(new URL("../../docs/test-runners.md", import.meta.url), "utf8"),
);

/** The latest version whose packages for other platforms a partial mirror of the registry has, too. */
export const jestResolutions = { "unrs-resolver": "1.12.2" };
export const jestPackages = {
  ...Object.fromEntries(guide.packages.map((name) => [name, versionOf(name)])),
  "babel-jest": VERSIONS.jest,
  "@babel/core": "^7.27.0",
  [BABEL]: "^7.27.0",
};

function versionOf(name) {
  const version = VERSIONS[name];
  if (version === undefined)
    throw new Error(`give ${name} a version in tools/pack-matrix/jest.mjs`);
  return version;
}

/** @param {string} folder */
export function writeJest(folder) {
  writeFiles(folder, {
    ...inFolder("guide-esm", guide.projects.esm),
    ...inFolder("guide-cjs", guide.projects.commonjs),
    "plain-esm/retry.test.mjs": suite(imports),
    "plain-esm/jest.config.json": JSON.stringify({ testMatch: ["**/*.test.mjs"], transform: {} }),
    "babel-cjs/retry.test.cjs": suite(requires),
    "babel-cjs/jest.config.json": JSON.stringify({
      testMatch: ["**/*.test.cjs"],
      transform: { "\\.[cm]?js$": ["babel-jest", { configFile: false, plugins: [BABEL] }] },
      transformIgnorePatterns: ["/node_modules/(?!(\\.pnpm/)?@holdfast[/+])"],
    }),
  });
}

const jest = "node_modules/jest/bin/jest.js";
const ESM = "--experimental-vm-modules";

/** @type {import("./projects.mjs").Check[]} */
export const jestChecks = [
  {
    name: "jest ESM, as in the guide (swc)",
    check: (folder) => passes(join(folder, "guide-esm"), [ESM, `../${jest}`]),
  },
  {
    name: "jest CommonJS, as in the guide (swc)",
    check: (folder) => passes(join(folder, "guide-cjs"), [`../${jest}`]),
  },
  {
    name: "jest ESM, without a transform",
    check: (folder) => passes(folder, [ESM, jest, ...configOf("plain-esm")]),
  },
  {
    name: "jest CommonJS, babel-jest",
    check: (folder) => passes(folder, [jest, ...configOf("babel-cjs")]),
  },
];

function configOf(project) {
  return ["--rootDir", project, "--config", `${project}/jest.config.json`];
}

function inFolder(folder, files) {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]),
  );
}
