// Everything that holds beside the tests. Runs every step even after a failure, so that one run says
// all there is to say, and tells for each failure what to do.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const steps = [
  {
    name: "format",
    command: "biome ci --error-on-warnings",
    remedy: "npm run fix",
  },
  // Before lint and layers, which follow imports into dist.
  {
    name: "types",
    command: "node tools/doctests.mjs && tsc -b",
    remedy: "packages/examples/doctest/FILE/L12.ts is the example at line 12 of FILE",
  },
  {
    name: "lint",
    command: "eslint --max-warnings 0 .",
    remedy: "follow the message; ARCHITECTURE.md explains the laws",
  },
  {
    name: "layers",
    command: "node tools/layers.mjs",
    remedy: "move the code down, or list the new folder in tools/layers.cjs",
  },
  {
    name: "api",
    command: "node tools/api-report.mjs --check",
    remedy: "npm run api, review the difference, and name it in CHANGELOG.md",
  },
  {
    name: "docs",
    command: "typedoc --emit none",
    remedy: "document the export, or fix the link, at the place in the message",
  },
  {
    name: "workflows",
    command: "node tools/workflows.mjs",
    remedy: "mend .github/workflows where the message points",
  },
  {
    name: "unused",
    command: "knip --no-config-hints",
    remedy: "delete unused code, or list its hidden use in knip.config.js",
  },
  {
    name: "packages",
    command: "node tools/packcheck.mjs",
    remedy: "compare `exports`, `files` and dependencies in the named package.json",
  },
];

const names = steps.map(({ name }) => name);
const usage = `npm run check [-- STEP...]: runs every step, or the named ones, even after a failure.
  STEP    one of ${names.join(", ")}
  --help`;
const wanted = readArguments(usage, { allowPositionals: true }, ({ positionals }) => {
  const unknown = positionals.find((one) => !names.includes(one));
  if (unknown !== undefined) throw new RangeError(`there is no step "${unknown}"`);
  return steps.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
});

/** Runs a step; what it prints comes whole, when it has ended. */
async function resultOf({ name, command, remedy }) {
  console.log(`… ${name}`);
  const began = performance.now();
  const child = spawn(command, {
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH}` },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
  const [status] = await once(child, "close");
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`\n== ${name}: ${command}\n${printed}`);
  if (status !== 0) console.log(`${name} failed. To fix it: ${remedy}`);
  return { name, remedy, seconds, passed: status === 0 };
}

async function inTurn(steps) {
  const results = [];
  for (const step of steps) results.push(await resultOf(step));
  return results;
}

// The others need what `types` makes. The packages take as long as the rest, much of it for the network.
const first = wanted.filter(({ name }) => name === "format" || name === "types");
const long = wanted.filter(({ name }) => name === "packages");
const rest = wanted.filter((step) => !first.includes(step) && !long.includes(step));
const began = await inTurn(first);
const results = [...began, ...(await Promise.all([inTurn(rest), inTurn(long)])).flat()];

console.log("\n== summary");
for (const { name, remedy, seconds, passed } of results)
  console.log(
    `${passed ? "passed" : "FAILED"}  ${name.padEnd(9)} ${seconds.padStart(5)} s${passed ? "" : `  ${remedy}`}`,
  );
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
