import fc from "fast-check";
import { inject } from "vitest";

// Elsewhere than on a build machine the next run draws other values.
fc.configureGlobal({ seed: inject("seed"), numRuns: inject("isThorough") ? 100 : 50 });
