// Makes what users get. `packages/NAME/release` is the package as it is published: one bundled file for
// each entry point and command, the chunks they share, declarations, sources, licence and a manifest without the
// settings of this workspace. `pnpm pack` calls this through `prepack` and packs that folder.
//
// `node tools/build.mjs` builds every package, `node tools/build.mjs clock` one of them.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { readArguments } from "./arguments.mjs";
import { bin, entriesOf, publicPackages, readJson, run } from "./packages.mjs";
import { readmeForRegistry, repositoryFields } from "./registry-page.mjs";
import { repository as url } from "./site/repository.mjs";

/** @param {{ folder: string, manifest: any }[]} [packages] */
export async function build(packages = publicPackages()) {
  run(bin("tsc"), ["-b", ...packages.map(({ folder }) => folder)]);
  for (const each of packages) await stage(each);
}

async function stage({ folder, manifest }) {
  const release = `${folder}/release`;
  rmSync(release, { recursive: true, force: true });
  const isSource = (path) => !path.endsWith(".md");
  cpSync(`${folder}/src`, `${release}/src`, { recursive: true, filter: isSource });
  if (existsSync(`${folder}/template`))
    cpSync(`${folder}/template`, `${release}/template`, { recursive: true });
  cpSync("LICENSE", `${release}/LICENSE`);
  cpSync("NOTICE", `${release}/NOTICE`);
  const readme = readFileSync(`${folder}/README.md`, "utf8");
  const where = { folder, version: manifest.version, url };
  writeFileSync(`${release}/README.md`, readmeForRegistry(readme, where));
  const published = publishedManifest(manifest, repositoryFields(folder, url));
  writeFileSync(`${release}/package.json`, `${JSON.stringify(published, null, 2)}\n`);
  await bundle(folder, release, manifest);
  copyDeclarations(folder, release);
}

/**
 * The manifest without what only this workspace reads.
 *
 * @param {any} manifest
 * @param {Record<string, unknown>} repository
 */
export function publishedManifest(manifest, repository) {
  const { devDependencies, scripts, publishConfig, exports, ...rest } = manifest;
  const { directory, linkDirectory, ...publishing } = publishConfig;
  return {
    ...rest,
    ...repository,
    exports: Object.fromEntries(
      Object.entries(exports).map(([entry, target]) => [entry, withoutSource(target)]),
    ),
    publishConfig: publishing,
  };
}

function withoutSource(target) {
  if (typeof target === "string") return target;
  const { "@holdfast/source": _, ...published } = target;
  return published;
}

/**
 * One build for all entry points of a package, so that a class they share is one class. It only joins
 * files: TypeScript has made the JavaScript.
 */
async function bundle(folder, release, manifest) {
  const commands = Object.values(manifest.bin ?? {});
  const entries = [...entriesOf(manifest).map(({ file }) => file), ...commands];
  const bundler = await rolldown({
    cwd: resolve(folder),
    input: Object.fromEntries(
      entries.map((file) => [file.replace(/^\.\/dist\/|\.js$/g, ""), file]),
    ),
    external: /^[^./]/,
    platform: "neutral",
    plugins: [mapTo(resolve(release))],
    checks: { bundlerTimings: false }, // a warning about a slow machine
    onLog(_level, { message }) {
      throw new Error(`${folder}: ${message}`);
    },
  });
  await bundler.write({
    dir: resolve(release, "dist"),
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name].js",
    sourcemap: true,
    comments: { annotation: true, jsdoc: false, legal: true },
  });
  await bundler.close();
}

/** Hands on the maps that TypeScript has written, so that those of the bundles lead to `src` beside them. */
function mapTo(release) {
  return {
    name: "source-map",
    load(id) {
      const map = readJson(`${id}.map`);
      const sources = map.sources.map((source) => {
        const path = relative(dirname(release), resolve(dirname(id), source));
        return join(release, path);
      });
      return { code: readFileSync(id, "utf8"), map: { ...map, sources } };
    },
  };
}

/** Those that `tsc -b` has written, but for those of sources that are gone: it leaves them behind. */
function copyDeclarations(folder, release) {
  const files = readdirSync(`${folder}/dist`, { recursive: true, encoding: "utf8" });
  for (const file of files) {
    const source = file.replace(/\.d\.ts(\.map)?$/, ".ts");
    if (source !== file && existsSync(join(folder, "src", source)))
      cpSync(join(folder, "dist", file), join(release, "dist", file));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const folders = publicPackages().map(({ folder }) => folder.replace("packages/", ""));
  const usage = `npm run build -- [packages]\n  packages: ${folders.join(", ")} (default: all)\n  --help`;
  const names = readArguments(usage, { allowPositionals: true }, ({ positionals }) => {
    const unknown = positionals.find((name) => !folders.includes(name));
    if (unknown !== undefined) throw new Error(`there is no package "${unknown}"`);
    return positionals;
  });
  try {
    await build(
      publicPackages().filter(
        ({ folder }) => names.length === 0 || names.includes(folder.replace("packages/", "")),
      ),
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
