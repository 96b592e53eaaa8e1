// Finds unused files, exports and dependencies. The tools are installed where the whole repository finds them
// (tools/package.json), so their names are listed nowhere else, and their plugins need to be switched on.
import { readFileSync } from "node:fs";

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(new URL("tools/package.json", import.meta.url), "utf8"),
);

/** Tables of options are found by their names: test/bad-input.ts, which fails for one that no door has. */
const TABLE = /^export (?=const \w+: Kinds<)/gm;

export default {
  compilers: { ts: (text) => text.replaceAll(TABLE, "") },
  ignoreDependencies: Object.keys({ ...dependencies, ...devDependencies }),
  workspaces: {
    ".": {
      ignoreBinaries: ["biome", "stryker", "tsc", "typedoc"],
      entry: ["vitest.{cluster,services}.config.ts"],
      project: ["*.{js,cjs,mjs,ts}", "docs/**/*.{js,mjs}"],
      eslint: true,
      stryker: true,
      typedoc: true,
      typescript: true,
      vitest: true,
    },
    bench: { entry: ["suites/**/*.mjs", "soak/*.mjs"] },
    conformance: { entry: ["src/main.ts"] },
    runtimes: { entry: ["suite/{program,worker}.mjs"] },
    services: { ignoreBinaries: ["mariadb-install-db"] },
    test: {
      entry: ["doc-example.ts", "release.ts", "seed.ts", "*.setup.ts"],
      project: ["**/*.ts"],
    },
    tools: {
      ignoreBinaries: ["mkfifo"],
      entry: ["*.mjs", "test/*.services.ts"],
      project: ["**/*.{js,cjs,mjs,ts}"],
    },
    "packages/outbox": {
      entry: ["test/**/*.services.ts", "test/services/{crash-worker,holder}.mjs"],
      ignoreBinaries: ["openssl"],
    },
    "packages/kubernetes": {
      ignoreDependencies: ["typescript-5.4"], // a test starts its compiler
      ignoreBinaries: ["mkfifo"],
      entry: [
        "test/**/*.cluster.ts",
        "test/operator/*.mjs",
        "test/real-server/*{candidate,replica}.mjs",
      ],
    },
    "packages/fake-apiserver": {
      entry: ["test/**/*.cluster.ts"],
      ignoreBinaries: ["openssl"],
      project: ["{conformance,src,test}/**/*.{ts,mjs}"],
    },
    "packages/create-operator": { ignore: ["template/**"] },
    "packages/examples": {
      entry: [
        "src/**/main.ts",
        "src/landing/*.ts",
        "src/**/demo/*.mjs",
        "src/**/*.node-test.ts",
        "src/**/page/{page,worker}.ts",
        "test/**/*.{cluster,services}.ts",
      ],
      ignoreDependencies: [
        "@kubernetes/client-node",
        "@nats-io/transport-node",
        "@opentelemetry/sdk-metrics",
        "@opentelemetry/sdk-trace-base",
        "axe-core",
        "cockatiel",
        "croner",
        "drizzle-orm",
        "kafkajs",
        "kysely",
      ],
    },
    "packages/cli": {
      entry: ["demo/*.mjs"],
      ignoreBinaries: ["mkfifo", "openssl", "script", "unshare"],
    },
    "packages/controller": { entry: ["test/**/*.services.ts"], ignoreBinaries: ["mkfifo"] },
  },
};
