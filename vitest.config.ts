import { availableParallelism } from "node:os";
import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfig,
} from "vitest/config";
import { QuietReporter } from "./test/quiet-reporter.ts";
import { releasedEntries } from "./tools/packages.mjs";

// By default tests run on the sources of every workspace package, without a build. TEST_DIST=1 builds,
// and runs the same tests on the bundles that would be published.
const isReleased = Boolean(process.env["TEST_DIST"]);
// "node" and not Vite's "module", which is for bundlers: dependencies resolve as they do for users.
const conditions = isReleased ? ["node"] : ["@holdfast/source", "node"];
const alias = isReleased ? releasedEntries() : [];

/** The tiers that a file of a package names before `.test.ts`: `drain.programs.test.ts`. Without a name it is a unit test. */
const named = ["explore", "programs", "sim"];
const docs = "packages/examples/doctest/*.test.ts";

/** A project of vitest for each tier: `npx vitest --project unit`. CONTRIBUTING.md says what each needs. */
const tiers: Record<string, string[]> = {
  unit: ["packages/*/test/**/*.test.ts", "{conformance,test}/**/*.test.ts"],
  ...Object.fromEntries(named.map((name) => [name, [`packages/*/test/**/*.${name}.test.ts`]])),
  docs: [docs],
  tools: ["{bench,tools}/test/**/*.test.ts"],
};

const projectOf = ([name, include]: [string, string[]]): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    include,
    exclude: [
      "**/{node_modules,dist,release}/**",
      ...(name === "unit" ? [docs, ...named.map((other) => `**/*.${other}.test.ts`)] : []),
    ],
  },
});

/** What holds for every tier, and for the tests on real servers. */
export const settings = {
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    // A worker keeps its modules: loading them again for each file takes as long as the tests.
    // shared-worker.setup.ts fails a file that leaves anything else behind.
    isolate: false,
    // Keeps compiled sources on disk, by their content and the settings above.
    experimental: { fsModuleCache: true },
    // A limit finds what hangs. A machine that is busy with other things takes many times as long as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // The output of passing tests is noise.
    silent: "passed-only",
    reporters: [new QuietReporter()],
    // One more than the cores: some tests wait for processes and for real time. Each worker loads the sources anew.
    maxWorkers: availableParallelism() + 1,
    globalSetup: ["test/seed.ts", ...(isReleased ? ["test/release.ts"] : [])],
    setupFiles: [
      "test/seed.setup.ts",
      "test/shared-worker.setup.ts",
      "packages/kubernetes/test/secrets.setup.ts",
    ],
    coverage: {
      provider: "v8",
      include: [
        "packages/{kit,clock,wait,controller,explore,outbox,kubernetes,fake-apiserver}/src/**/*.ts",
      ],
      // A main.ts runs in a process of its own. The last three are tested on real servers: npm run test:services.
      exclude: [
        "packages/examples/**",
        "packages/*/src/bin/main.ts",
        "packages/outbox/src/{mysql,rabbitmq,nats}/**",
        "packages/controller/src/{mysql-lock,redis-lock}/**",
        "packages/kit/src/sql/mysql-connection.ts",
      ],
      reporter: [["text", { skipFull: true }]],
      // A floor that finds forgotten branches; what a test means is the mutation run's question.
      thresholds: {
        "packages/{clock,wait}/src/**/*.ts": { 100: true },
        "packages/kit/src/{*,node/*,opentelemetry/*,prometheus/*}.ts": { 100: true },
        "packages/controller/src/**/*.ts": { 100: true },
        "packages/explore/src/**/*.ts": {
          statements: 99,
          branches: 95,
          functions: 100,
          lines: 99,
        },
        "packages/kubernetes/src/{client,election,helper,metrics,object,opentelemetry,operator,prometheus,transport}/**/*.ts":
          { 100: true },
        "packages/{kubernetes/src/{cache,cluster,reflect},fake-apiserver/src/fast-check}/**/*.ts": {
          statements: 99,
          branches: 96,
          functions: 98,
          lines: 99,
        },
        "packages/kubernetes/src/schema/**/*.ts": {
          statements: 96,
          branches: 92,
          functions: 96,
          lines: 98,
        },
        // Held to recordings of a real server first; its branches are those of Kubernetes.
        "packages/fake-apiserver/src/{crd-rules,explore,managed-fields,object,server}/**/*.ts": {
          statements: 96,
          branches: 92,
          functions: 97,
          lines: 97,
        },
        "packages/outbox/src/**/*.ts": { statements: 99, branches: 97, functions: 98, lines: 99 },
      },
    },
  },
} satisfies ViteUserConfig;

export default defineConfig({
  ...settings,
  test: { ...settings.test, projects: Object.entries(tiers).map(projectOf) },
});
