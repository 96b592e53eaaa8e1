// The packages that are published, and how a tool runs a command.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { registryEnv } from "./registry-env.mjs";

/** @returns {{ folder: string, manifest: any }[]} the packages that are published */
export function publicPackages() {
  return readdirSync("packages")
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(`${folder}/package.json`))
    .map((folder) => ({ folder, manifest: readJson(`${folder}/package.json`) }))
    .filter(({ manifest }) => !manifest.private);
}

/**
 * Every entry point of the public packages and its file in `packages/NAME/release`, where
 * tools/build.mjs leaves what is published.
 *
 * @returns {{ find: RegExp, replacement: string }[]}
 */
export function releasedEntries() {
  return publicPackages().flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports)
      .filter(([, target]) => target.default !== undefined)
      .map(([entry, target]) => ({
        find: new RegExp(`^${manifest.name}${entry.slice(1)}$`),
        replacement: resolve(folder, "release", target.default),
      })),
  );
}

export function bin(name) {
  return resolve("node_modules/.bin", name);
}

/** Runs quietly; a command that fails says why. */
export function run(command, args, cwd = ".") {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: registryEnv(),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${stdout}${stderr}\nfailed: ${command} ${args.join(" ")}`);
  return stdout;
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
