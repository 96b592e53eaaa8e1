// Makes the bundles that `TEST_DIST=1` tests.
import { build } from "../tools/build.mjs";

export const setup = (): Promise<void> => build();
