// The package managers, by exact version. Each installs the package.json of a folder; our own packages come
// from the registry that the folder names.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execute } from "../execute.mjs";
import { pinnedPnpm } from "../packages.mjs";
import { registryEnv } from "../registry-env.mjs";

const MINUTES = 60_000;

/**
 * @typedef {object} Manager
 * @property {string} name
 * @property {boolean} needsResolutions - whether it stops if the registry lacks an optional package of another platform
 * @property {string[]} [plugAndPlay] - for Node, if it writes no node_modules: then `require` of an ES module fails
 * @property {(folder: string, registry: string, caches: string) => Promise<void>} install - `caches` is for what a
 * manager would otherwise take for the same version of an earlier run
 */

/** @returns {Manager[]} */
export function managers() {
  return [
    manager("npm@11.19.1", ["npm", "install", "--no-audit", "--no-fund"], npmrc),
    manager(pinnedPnpm(), ["pnpm", "install", "--config.pm-on-fail=ignore"], npmrc),
    {
      ...manager("yarn@1.22.22", ["yarn", "install", "--non-interactive"], npmrc, {
        YARN_CACHE_FOLDER: "yarn-1",
      }),
      needsResolutions: true,
    },
    yarn4("node-modules"),
    { ...yarn4("pnp"), plugAndPlay: ["--require", "./.pnp.cjs", "--loader", "./.pnp.loader.mjs"] },
    manager("bun@1.4.5", ["bun", "install"], npmrc, { BUN_INSTALL_CACHE_DIR: "bun" }),
  ];
}

/**
 * @param {Record<string, string>} [variables] - each names the folder of a cache
 * @returns {Manager}
 */
function manager(spec, command, configure, variables = {}) {
  return {
    name: spec.replace("@yarnpkg/cli-dist", "yarn").replace("@", " "),
    needsResolutions: false,
    async install(folder, registry, caches) {
      mkdirSync(folder, { recursive: true });
      configure(folder, registry);
      // The binary of bun comes by an install script.
      const ofCaches = Object.entries(variables).map(([name, cache]) => [
        name,
        join(caches, cache),
      ]);
      const env = {
        ...registryEnv(),
        ...Object.fromEntries(ofCaches),
        npm_config_ignore_scripts: "false",
      };
      const args = ["--yes", "-p", spec, "-c", command.join(" ")];
      const options = { cwd: folder, env, limit: 10 * MINUTES };
      const { code, lines, errors } = await execute("npx", args, options);
      if (code !== 0)
        throw new Error([`${command.join(" ")} failed`, ...lines, ...errors].join("\n"));
    },
  };
}

/** @param {"node-modules" | "pnp"} linker */
function yarn4(linker) {
  const command = ["yarn", "install", "--no-immutable"];
  const variables = { YARN_CACHE_FOLDER: `yarn-4-${linker}` };
  const yarn = manager("@yarnpkg/cli-dist@4.18.1", command, yarnrc(linker), variables);
  return { ...yarn, name: `${yarn.name} ${linker}`, needsResolutions: true };
}

function npmrc(folder, registry) {
  writeFileSync(join(folder, ".npmrc"), `@holdfast:registry=${registry}\n`);
  // Ours alone: this folder is not part of a workspace around it.
  writeFileSync(join(folder, "pnpm-workspace.yaml"), "packages: []\nstrictDepBuilds: false\n");
}

function yarnrc(linker) {
  return (folder, registry) => {
    const lines = [
      `nodeLinker: ${linker}`,
      "enableTelemetry: false",
      "enableGlobalCache: false",
      "httpTimeout: 300000",
      "networkConcurrency: 8",
      "npmMinimalAgeGate: 0",
      'unsafeHttpWhitelist: ["127.0.0.1"]',
      `npmScopes: { holdfast: { npmRegistryServer: "${registry}" } }`,
    ];
    writeFileSync(join(folder, ".yarnrc.yml"), `${lines.join("\n")}\n`);
    writeFileSync(join(folder, "yarn.lock"), "");
  };
}
