import { defineConfig } from "vitest/config";
import { settings } from "./vitest.config.ts";

// What needs real servers, a browser or every program: `npm run test:services` starts them and says where they are.
export default defineConfig({
  ...settings,
  test: {
    ...settings.test,
    include: ["{packages/{controller,outbox,examples},tools}/test/**/*.services.ts"],
    reporters: ["verbose"],
  },
});
