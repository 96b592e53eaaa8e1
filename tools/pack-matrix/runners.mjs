// Consumers at run time: Node itself, and the test runners in which users test code that waits.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./run-node.mjs";

const RUNNERS = { jest: "30.5.2", "babel-jest": "30.5.2", vitest: "4.1.12" };
/** What Babel needs to make CommonJS of ESM in jest; babel-jest brings the rest. */
const BABEL = "@babel/plugin-transform-modules-commonjs";
export const RUNNER_PACKAGES = { ...RUNNERS, [BABEL]: "^7.27.0", "@babel/core": "^7.27.0" };

/** A retry on the fake clock, and one class behind each name. */
const BODY = `
const clock = new FakeClock();
let calls = 0;
const work = async () => {
  calls += 1;
  if (calls < 3) throw new Error("not yet");
  return calls;
};
const value = await clock.run(() => retry(work, { clock }));
const error = new TerminalError("no");
const facts = {
  value,
  pending: clock.waiters(),
  extendsBase: clock instanceof BaseClock,
  sameClass: isTerminalError(error) && error instanceof wait.TerminalError,
};
const expected = { value: 3, pending: 0, extendsBase: true, sameClass: true };
`;

const NAMES = {
  "{ BaseClock }": "@holdfast/clock",
  "{ FakeClock }": "@holdfast/clock/testing",
  "{ isTerminalError, TerminalError }": "@holdfast/controller",
  "{ retry }": "@holdfast/wait",
};
const imports = [
  ...Object.entries(NAMES).map(([names, from]) => `import ${names} from "${from}";`),
  'import * as wait from "@holdfast/wait";',
].join("\n");
const requires = [
  ...Object.entries(NAMES).map(([names, from]) => `const ${names} = require("${from}");`),
  'const wait = require("@holdfast/wait");',
].join("\n");

const suite = (head) =>
  `${head}\ntest("retries on the fake clock", async () => {${BODY}expect(facts).toEqual(expected);\n});\n`;

/** @param {string} folder */
export function writeRunners(folder) {
  const files = {
    "node/esm.mjs": `import { deepEqual } from "node:assert";\n${imports}\n${BODY}deepEqual(facts, expected);`,
    "node/cjs.cjs": `const { deepEqual } = require("node:assert");\n${requires}\n(async () => {${BODY}deepEqual(facts, expected);})();`,
    "jest-esm/retry.test.mjs": suite(imports),
    "jest-esm/jest.config.json": JSON.stringify({ testMatch: ["**/*.test.mjs"], transform: {} }),
    "jest-cjs/retry.test.cjs": suite(requires),
    "jest-cjs/jest.config.json": JSON.stringify({
      testMatch: ["**/*.test.cjs"],
      transform: { "\\.[cm]?js$": ["babel-jest", { configFile: false, plugins: [BABEL] }] },
      transformIgnorePatterns: ["/node_modules/(?!(\\.pnpm/)?@holdfast[/+])"],
    }),
    "vitest-esm/retry.test.mjs": suite(`import { expect, test } from "vitest";\n${imports}`),
    "vitest-cjs/retry.test.mjs": suite(
      `import { createRequire } from "node:module";\nimport { expect, test } from "vitest";\nconst require = createRequire(import.meta.url);\n${requires}`,
    ),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

const jest = "node_modules/jest/bin/jest.js";
const vitest = "node_modules/vitest/vitest.mjs";

/** @type {{ name: string, args: string[] }[]} */
const commands = [
  { name: "Node import", args: ["node/esm.mjs"] },
  { name: "Node require", args: ["node/cjs.cjs"] },
  {
    name: "jest ESM (--experimental-vm-modules)",
    args: [
      "--experimental-vm-modules",
      jest,
      "--rootDir",
      "jest-esm",
      "--config",
      "jest-esm/jest.config.json",
    ],
  },
  {
    name: "jest CommonJS (babel-jest)",
    args: [jest, "--rootDir", "jest-cjs", "--config", "jest-cjs/jest.config.json"],
  },
  { name: "vitest ESM", args: [vitest, "run", "--dir", "vitest-esm"] },
  { name: "vitest CommonJS", args: [vitest, "run", "--dir", "vitest-cjs"] },
];

export const runnerChecks = commands.map(({ name, args }) => ({
  name,
  async check(folder) {
    const { code, lines, errors } = await runNode(folder, args);
    if (code !== 0) throw new Error([...lines, ...errors].join("\n"));
    return "passes";
  },
}));
