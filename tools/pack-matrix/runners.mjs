// Consumers at run time: Node itself, and vitest, in which users test code that waits.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./run-node.mjs";

const MAJOR = Number(process.versions.node.split(".")[0]);

/** Vitest 5 needs Node 22.12. */
export const VITEST = { vitest: MAJOR < 22 ? "4.1.12" : "5.1.2" };

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
export const imports = [
  ...Object.entries(NAMES).map(([names, from]) => `import ${names} from "${from}";`),
  'import * as wait from "@holdfast/wait";',
].join("\n");
export const requires = [
  ...Object.entries(NAMES).map(([names, from]) => `const ${names} = require("${from}");`),
  'const wait = require("@holdfast/wait");',
].join("\n");

export const suite = (head) =>
  `${head}\ntest("retries on the fake clock", async () => {${BODY}expect(facts).toEqual(expected);\n});\n`;

/** @param {string} folder */
export function writeRunners(folder) {
  const files = {
    "node/esm.mjs": `import { deepEqual } from "node:assert";\n${imports}\n${BODY}deepEqual(facts, expected);`,
    "node/cjs.cjs": `const { deepEqual } = require("node:assert");\n${requires}\n(async () => {${BODY}deepEqual(facts, expected);})();`,
    "vitest-esm/retry.test.mjs": suite(`import { expect, test } from "vitest";\n${imports}`),
    "vitest-cjs/retry.test.mjs": suite(
      `import { createRequire } from "node:module";\nimport { expect, test } from "vitest";\nconst require = createRequire(import.meta.url);\n${requires}`,
    ),
  };
  writeFiles(folder, files);
}

/**
 * @param {string} folder
 * @param {Record<string, string>} files - texts by path
 */
export function writeFiles(folder, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

const vitest = "node_modules/vitest/vitest.mjs";

/** @type {{ name: string, args: string[] }[]} */
const commands = [
  { name: "Node import", args: ["node/esm.mjs"] },
  { name: "Node require", args: ["node/cjs.cjs"] },
  { name: "vitest ESM", args: [vitest, "run", "--dir", "vitest-esm"] },
  { name: "vitest CommonJS", args: [vitest, "run", "--dir", "vitest-cjs"] },
];

export const runnerChecks = commands.map(({ name, args }) => ({
  name,
  check: (folder) => passes(folder, args),
}));

/**
 * @param {string} folder
 * @param {string[]} args - of Node
 */
export async function passes(folder, args) {
  const { code, lines, errors } = await runNode(folder, args);
  if (code !== 0) throw new Error([...lines, ...errors].join("\n"));
  return "passes";
}
