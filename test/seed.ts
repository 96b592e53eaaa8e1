import { relative } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** What every property test of this run draws its values from. */
    seed: number;
    /** Whether all cases take place, as by `npm run test:all`, or a part that the seed draws. */
    isAll: boolean;
    /** Whether all runs and worlds take place, as by `npm run sim`, or a part. */
    isThorough: boolean;
    /** The seed of simulations and explorations: that of `npm run sim`, and otherwise 1. */
    simSeed: number;
  }
}

/** CI has a seed of its own, so that a red build is the fault of its change. */
const CI_SEED = 20_261_120;

/** Says which seed the property tests use, and after a failure how to use it again. */
export default function announceSeed(project: TestProject): (() => void) | undefined {
  // The tiers have what the root provides.
  if (!project.isRootProject()) return undefined;
  const seed = chooseSeed();
  project.provide("seed", seed);
  console.log(`Property tests draw from SEED=${seed}.`);

  const { SIM_SEED } = process.env;
  const isThorough = Boolean(SIM_SEED);
  project.provide("simSeed", Number(SIM_SEED || 1));
  project.provide("isThorough", isThorough);
  project.provide("isAll", isThorough || Boolean(process.env["TEST_ALL"]));

  return () => {
    const failed = project.vitest.state
      .getFailedFilepaths()
      .map((path) => relative(project.config.root, path));
    const dist = process.env["TEST_DIST"] ? "TEST_DIST=1 " : "";
    if (failed.length > 0)
      console.log(`Again: ${dist}SEED=${seed} npx vitest run ${failed.join(" ")}`);
  };
}

function chooseSeed(): number {
  const { SEED, CI } = process.env;
  if (SEED) {
    const seed = Number(SEED);
    if (!Number.isInteger(seed)) throw new RangeError(`SEED must be a whole number, got ${SEED}`);
    return seed;
  }
  return CI ? CI_SEED : Math.floor(Math.random() * 2 ** 31);
}
