// Packs the public packages as they would be published, and installs the tarballs into a folder beyond
// the workspace. `npm run tarballs -- FOLDER` leaves them there; with `--serve` npm finds them by their names.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readArguments } from "./arguments.mjs";
import { pinnedPnpm, publicPackages, run } from "./packages.mjs";
import { serve } from "./registry.mjs";

const USAGE = `npm run tarballs -- [FOLDER] [options]    default: tarballs
  --serve   serves them as a registry on the loopback interface, until Ctrl-C
  --help`;

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
  const { folder, isServed } = readArguments(
    USAGE,
    { allowPositionals: true, options: { serve: { type: "boolean", default: false } } },
    ({ values, positionals: [first = "tarballs", ...more] }) => {
      if (more.length > 0) throw new RangeError(`give one FOLDER, got ${more.length + 1}`);
      return { folder: resolve(first), isServed: values["serve"] };
    },
  );
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  mkdirSync(folder, { recursive: true });
  packInto(folder);
  const tarballs = publicPackages().map(({ manifest }) => tarballOf(folder, manifest));
  console.log(tarballs.join("\n"));
  if (isServed) {
    const { url } = await serve(tarballs);
    console.log(`
A registry of these packages is at ${url} until Ctrl-C. In another terminal, in a folder of no npm project, or npm reads the .npmrc of that project:

  echo "@holdfast:registry=${url}" > .npmrc
  npm create @holdfast/operator backup-operator && cp .npmrc backup-operator`);
  }
}
