import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { settings } from "./vitest.config.ts";

// What needs a real Kubernetes API server: `npm run test:cluster` starts it and says where it is.
export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ["packages/*/test/**/*.cluster.ts"],
    reporters: ["verbose"],
    // They wait for servers and for real time more than they compute.
    maxWorkers: 2 * availableParallelism() + 1,
  },
});
