// Runs the simulations whole, and all else that `npm test` runs a part of: `npm run sim -- --seed 7 --runs 20`.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string", default: "1" } },
});
/** The tests that ask whether they are to run whole. */
const files = ["bench", ...readdirSync("packages").map((name) => `packages/${name}`)]
  .map((folder) => `${folder}/test`)
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${path}`))
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) => readFileSync(path, "utf8").includes('inject("isThorough")'));
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const runs = Number(values.runs);
if (!Number.isSafeInteger(first)) throw new RangeError(`--seed must be whole, got ${values.seed}`);
if (!(Number.isSafeInteger(runs) && runs > 0))
  throw new RangeError(`--runs must be a whole number above 0, got ${values.runs}`);

for (let seed = first; seed < first + runs; seed++) {
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...files, "--reporter=verbose"],
    { stdio: "inherit", env: { ...process.env, SIM_SEED: String(seed) } },
  );
  if (status !== 0) {
    console.error(`Seed ${seed} failed. Again: npm run sim -- --seed ${seed}`);
    process.exit(1);
  }
}
console.log(`Seeds ${first} to ${first + runs - 1} passed.`);
