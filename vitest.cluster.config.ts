import { defineConfig } from "vitest/config";
import { settings } from "./vitest.config.ts";

// What needs a real Kubernetes API server: `npm run test:cluster` starts it and says where it is.
export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ["packages/*/test/**/*.cluster.ts"],
    // Servers start, stop and are waited for.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["verbose"],
  },
});
