// Runs the simulations with other seeds than those that are kept: `npm run sim -- --seed 7 --runs 20`.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string", default: "1" } },
});
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const runs = Number(values.runs);
if (!Number.isSafeInteger(first)) throw new RangeError(`--seed must be whole, got ${values.seed}`);
if (!(Number.isSafeInteger(runs) && runs > 0))
  throw new RangeError(`--runs must be a whole number above 0, got ${values.runs}`);

for (let seed = first; seed < first + runs; seed++) {
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ".sim.test.ts", "--reporter=verbose"],
    { stdio: "inherit", env: { ...process.env, SIM_SEED: String(seed) } },
  );
  if (status !== 0) {
    console.error(`Seed ${seed} failed. Again: npm run sim -- --seed ${seed}`);
    process.exit(1);
  }
}
console.log(`Seeds ${first} to ${first + runs - 1} hold.`);
