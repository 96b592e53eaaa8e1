// Makes the bundles that `TEST_DIST=1` tests.
import type { TestProject } from "vitest/node";
import { build } from "../tools/build.mjs";

export async function setup(project: TestProject): Promise<void> {
  // Once, and not for every tier.
  if (project.isRootProject()) await build();
}
