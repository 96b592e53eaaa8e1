// Runs the unit tests, and those of webhooks by TLS, on other Node majors, taken from the npm package `node`:
// `node tools/matrix.mjs` for all of them, `node tools/matrix.mjs 22 26` for some. `--all` runs every tier.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.mjs";
import { registryEnv } from "./registry-env.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const versions = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"];
const majorOf = (version) => version.split(".")[0] ?? "";
const TEST = "node tools/test.mjs";
const ALL = `${TEST} --all`;
/** Certificates, TLS and connections that stay are those of Node. */
const SOME = `${TEST} --project=unit && ${TEST} --project=programs packages/kubernetes/test/webhook`;
const usage = `node tools/matrix.mjs [--all] [majors]\n  majors: ${versions.map(majorOf).join(", ")} (default: all)\n  --all  every tier, and not only the unit tests and those of webhooks\n  --help`;
/** @type {import("node:util").ParseArgsConfig} */
const config = { allowPositionals: true, options: { all: { type: "boolean" } } };
const { majors, tests } = readArguments(usage, config, ({ positionals, values }) => {
  const unknown = positionals.find((major) => !versions.map(majorOf).includes(major));
  if (unknown !== undefined) throw new Error(`there is no Node ${unknown} in the matrix`);
  return { majors: positionals, tests: values["all"] ? ALL : SOME };
});
const chosen = versions.filter(
  (version) => majors.length === 0 || majors.includes(majorOf(version)),
);

const results = chosen.map((version) => {
  console.log(`\n== Node ${version}`);
  const began = performance.now();
  const { status } = spawnSync(
    "npx",
    ["--yes", "-p", `node@${version}`, "-c", `test "$(node -v)" = v${version} && ${tests}`],
    // The binary comes by an install script: with scripts off, npx would run this Node instead.
    { stdio: "inherit", env: { ...registryEnv(), npm_config_ignore_scripts: "false" } },
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  return { version, passed: status === 0, seconds };
});

console.log("\n== summary");
for (const { version, passed, seconds } of results)
  console.log(
    `${passed ? "passed" : "FAILED"}  Node ${version.padEnd(8)} ${seconds.padStart(5)} s`,
  );
process.exitCode = results.length > 0 && results.every(({ passed }) => passed) ? 0 : 1;
