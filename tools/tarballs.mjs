// Builds the public packages, packs them as they would be published, and installs the tarballs into a
// folder beyond the workspace.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { registryEnv } from "./registry-env.mjs";

/** @returns {{ folder: string, manifest: any }[]} the packages that are published */
export function publicPackages() {
  return readdirSync("packages")
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(`${folder}/package.json`))
    .map((folder) => ({ folder, manifest: readJson(`${folder}/package.json`) }))
    .filter(({ manifest }) => !manifest.private);
}

/** Builds and packs. From nothing: `tsc -b` leaves the output of deleted sources behind. */
export function packInto(destination, packages = publicPackages()) {
  for (const { folder } of packages) rmSync(`${folder}/dist`, { recursive: true, force: true });
  run(bin("tsc"), ["-b", ...packages.map(({ folder }) => folder)]);
  const { packageManager } = readJson("package.json");
  for (const { folder } of packages)
    run("npx", ["--yes", packageManager, "pack", "--pack-destination", destination], folder);
}

/**
 * Installs tarballs that {@link packInto} left in a folder, with their peers, and `others`.
 *
 * @param {string} folder - where they are installed
 * @param {{ manifest: any }[]} [packages]
 * @param {Record<string, string>} [others]
 * @param {string} [tarballs] - where they are, if not in `folder`
 */
export function installInto(folder, packages = publicPackages(), others = {}, tarballs = folder) {
  const dependencies = Object.assign(
    { ...others },
    ...packages.map(({ manifest }) => ({
      ...manifest.peerDependencies,
      [manifest.name]: `file:${tarballOf(tarballs, manifest)}`,
    })),
  );
  const consumer = { private: true, type: "module", dependencies };
  writeFileSync(join(folder, "package.json"), JSON.stringify(consumer));
  run("npm", ["install", "--no-audit", "--no-fund"], folder);
}

export function tarballOf(folder, { name, version }) {
  return join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
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

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
