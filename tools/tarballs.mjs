// Packs the public packages as they would be published, and installs the tarballs into a folder beyond
// the workspace. `node tools/tarballs.mjs FOLDER` leaves them there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pinnedPnpm, publicPackages, run } from "./packages.mjs";

/** Builds and packs: `pnpm pack` runs `prepack`, and packs `publishConfig.directory`. */
export function packInto(destination, packages = publicPackages()) {
  for (const { folder } of packages)
    run("npx", ["--yes", pinnedPnpm(), "pack", "--pack-destination", destination], folder);
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = resolve(process.argv[2] ?? "tarballs");
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  mkdirSync(folder, { recursive: true });
  packInto(folder);
  for (const { manifest } of publicPackages()) console.log(tarballOf(folder, manifest));
}
