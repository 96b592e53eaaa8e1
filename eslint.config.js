// What is allowed. How code looks is Biome's question.
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { laws } from "./tools/laws.js";

const libraries =
  "packages/{kit,clock,wait,controller,explore,outbox,kubernetes,fake-apiserver}/src/**/*.ts";
/** What holds for one test file, or for what it calls. */
const HOOK = "CallExpression[callee.name=/^(?:tempFolder|(?:before|after)(?:All|Each))$/]";
const sources = "packages/*/src/**/*.ts";

export default defineConfig(
  {
    ignores: [
      "**/dist/",
      "**/release/",
      "**/coverage/",
      "**/reports/",
      "**/.stryker-tmp/",
      "docs/api/",
      "packages/create-operator/template/", // with marks in place of names: its test compiles what it makes
    ],
  },

  {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    plugins: { "@typescript-eslint": tseslint.plugin, law: { rules: laws } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error", // a lost promise is a lost error; node:test waits for its own
        { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: "test" }] },
      ],
      "@typescript-eslint/no-misused-promises": "error", // an async listener rejects into the void
      "@typescript-eslint/await-thenable": "error", // awaiting a value hides that nothing is waited for
    },
  },

  // Without no-unnecessary-condition: it takes a second look at `signal.aborted` or at a state, after an
  // await or a call to user code, for a mistake. Law 7 asks for exactly that look.
  {
    files: [sources],
    rules: {
      "law/time-is-an-argument": "error", // law 1
      "law/chance-is-an-argument": "error", // law 1
      "law/signals-do-not-pile-up": "error", // law 4
      "law/exports-are-named": "error", // a reader sees the public surface

      "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"], // `finally` must cover it
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error", // law 6: states are closed unions
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/only-throw-error": ["error", { allowThrowingUnknown: true }], // abort reasons pass through
      "@typescript-eslint/no-non-null-assertion": "error", // say why it is there, or handle its absence

      "max-params": ["error", { max: 4 }], // beyond two, an options object
      "max-depth": ["error", { max: 3 }], // deeper is a function of its own
      complexity: ["error", { max: 10, variant: "modified" }], // more is a table; a switch is one
    },
  },

  { files: [libraries], rules: { "law/one-listener-per-signal": "error" } }, // law 5
  { files: ["packages/wait/src/**/*.ts"], rules: { "law/one-loop": "error" } }, // law 3
  {
    files: ["packages/{controller,outbox,kubernetes,fake-apiserver}/src/**/*.ts"],
    ignores: ["packages/fake-apiserver/src/fast-check/**"], // moves its own fake clock, and nothing aborts it
    rules: { "law/loops-do-not-sleep": "error" }, // law 3
  },
  {
    files: ["**/test/**/*.ts"],
    rules: {
      "law/test-names-state-facts": "error", // a name is a claim
      "no-restricted-properties": [
        "error",
        ...["waitFor", "waitUntil"].map((property) => ({
          object: "vi",
          property,
          message:
            "It ends after a second. `expect.poll` has the limit of vitest.config.ts, for a busy machine.",
        })),
      ],
      "@typescript-eslint/await-thenable": "off", // `await undefined` is how a test counts microtasks
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }], // callbacks may be async
    },
  },

  {
    files: ["**/test/**/*.ts"],
    ignores: ["**/*.{test,services,cluster,real,setup}.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: `:matches(Program > ExpressionStatement, VariableDeclarator) > ${HOOK}:not(:function *)`,
          message:
            "Files of tests share a worker and the modules that it has loaded: this runs once, and ends with the " +
            "first file. Let each test file call it, or a function that it calls.",
        },
      ],
    },
  },

  {
    files: ["packages/examples/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: ["@holdfast/kit", "@holdfast/kit/*"],
              message: "Show what users have: the packages' other entry points.",
            },
          ],
        },
      ],
    },
  },

  // A page of a demonstration has the bounds of all pages.
  {
    files: ["packages/examples/src/dns-sync/{board,page}.ts"],
    rules: { "no-restricted-imports": "off" },
  },

  // A hook has no `expect.poll`.
  { files: ["test/shared-worker.setup.ts"], rules: { "no-restricted-properties": "off" } },

  // The one place each law leaves open.
  {
    files: ["packages/clock/src/host/platform.ts"],
    rules: {
      "law/time-is-an-argument": "off",
      "law/one-listener-per-signal": "off",
      "law/signals-do-not-pile-up": "off", // one for each signal, kept as long as the signal
    },
  },
  // Reads which clock stands behind the global, and calls nothing.
  {
    files: ["packages/clock/src/fake-timers/from-fake-timers.ts"],
    rules: { "law/time-is-an-argument": "off" },
  },
  {
    files: ["packages/{kit/src/uuid-from,wait/src/delay/random}.ts"],
    rules: { "law/chance-is-an-argument": "off" },
  },
  // Secrets and names of processes: nobody may guess them or have them again, so no test repeats them.
  {
    files: [
      "packages/cli/src/{process-group,run/machine/run-lock}.ts",
      "packages/outbox/src/bin/page.ts",
      "packages/examples/src/{dns-sync/page,outbox/main,recipes/recipes}.ts",
    ],
    rules: { "law/chance-is-an-argument": "off" },
  },
  // Names the programs that read time, and reads none.
  {
    files: ["packages/controller/src/recording/foreign.ts"],
    rules: { "law/time-is-an-argument": "off" },
  },
  {
    files: ["packages/wait/src/loop/loop.ts", "packages/wait/src/retry/retry.ts"],
    rules: { "law/one-loop": "off" },
  },

  // Every branch of the one loop stands on one page.
  {
    files: ["packages/wait/src/loop/loop.ts"],
    rules: { complexity: ["error", { max: 21 }], "max-depth": ["error", { max: 4 }] },
  },
  // Kubernetes' four arguments, and then the options.
  {
    files: ["packages/wait/src/loop/backoff-until.ts"],
    rules: { "max-params": ["error", { max: 5 }] },
  },
  // Made for every sleep of a simulation: an options object would be one more allocation.
  {
    files: ["packages/clock/src/testing/fake-timer.ts"],
    rules: { "max-params": ["error", { max: 5 }] },
  },
);
