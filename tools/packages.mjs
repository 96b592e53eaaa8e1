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
 * The entry points of a package, as `exports` of its package.json lists them: the one list of them.
 *
 * @param {{ name: string, exports: Record<string, any> }} manifest
 * @returns {{ name: string, report: string, types: string, file: string }[]} names as users import them; paths in the
 * package
 */
export function entriesOf({ name, exports }) {
  return Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([entry, target]) => ({
      name: name + entry.slice(1),
      report: `api/${entry.slice(2) || "index"}.api.txt`,
      types: target.types,
      file: target.default,
    }));
}

/**
 * Every entry point of the public packages and its file in `packages/NAME/release`, where
 * tools/build.mjs leaves what is published.
 *
 * @returns {{ find: RegExp, replacement: string }[]}
 */
export function releasedEntries() {
  return publicPackages().flatMap(({ folder, manifest }) =>
    entriesOf(manifest).map(({ name, file }) => ({
      find: new RegExp(`^${name}$`),
      replacement: resolve(folder, "release", file),
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

/** The pnpm of this repository, such as `pnpm@12.21.0`. package.json has the hash of its tarball, too. */
export function pinnedPnpm() {
  return readJson("package.json").packageManager.split("+")[0];
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
