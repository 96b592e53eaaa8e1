// Runs the simulations whole, and all else that `npm test` runs a part of: `npm run sim -- --seed 7 --runs 20`.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readArguments, wholeNumber } from "./arguments.mjs";

const USAGE = `npm run sim -- [options]
  --seed N   the first seed (default: a random one)
  --runs M   how many seeds, one after the other (default 1)
  --help`;

const { first, runs } = readArguments(
  USAGE,
  { options: { seed: { type: "string" }, runs: { type: "string", default: "1" } } },
  ({ values: { seed, runs: count } }) => ({
    first:
      seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber("--seed", seed, 0),
    runs: wholeNumber("--runs", count, 1),
  }),
);
/** The tests that ask whether they are to run whole. */
const files = ["bench", ...readdirSync("packages").map((name) => `packages/${name}`)]
  .map((folder) => `${folder}/test`)
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${path}`))
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) => readFileSync(path, "utf8").includes('inject("isThorough")'));

/** One test may take as long as others take together. Milliseconds. */
const TIMEOUT = 3_600_000;

for (let seed = first; seed < first + runs; seed++) {
  const { status } = spawnSync(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...files,
      "--reporter=verbose",
      `--testTimeout=${TIMEOUT}`,
    ],
    { stdio: "inherit", env: { ...process.env, SIM_SEED: String(seed) } },
  );
  if (status !== 0) {
    console.error(`Seed ${seed} failed. Again: npm run sim -- --seed ${seed}`);
    process.exit(1);
  }
}
console.log(`Seeds ${first} to ${first + runs - 1} passed.`);
