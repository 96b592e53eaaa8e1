// Makes what users get. `packages/NAME/release` is the package as it is published: one bundled file for
// each entry point and command, the chunks they share, declarations, sources, licence and a manifest without the
// settings of this workspace. What it uses of packages/kit, which is not published, is in it. `pnpm pack` calls this through `prepack` and packs that folder.
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

const KIT = "@holdfast/kit";
const KIT_FOLDER = "packages/kit";

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
  const ofKit = await bundle(folder, release, manifest);
  copyDeclarations(folder, release);
  takeOverKit(release, ofKit);
}

/**
 * The manifest without what only this workspace reads or has.
 *
 * @param {any} manifest
 * @param {Record<string, unknown>} repository
 */
export function publishedManifest(manifest, repository) {
  const { devDependencies, dependencies, scripts, publishConfig, exports, ...rest } = manifest;
  const { directory, linkDirectory, ...publishing } = publishConfig;
  const others = Object.entries(dependencies ?? {}).filter(([name]) => name !== KIT);
  return {
    ...rest,
    ...(others.length === 0 ? {} : { dependencies: Object.fromEntries(others) }),
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
 *
 * @returns {Promise<string[]>} the files of the kit in it, as paths without their ends
 */
async function bundle(folder, release, manifest) {
  const commands = Object.values(manifest.bin ?? {});
  const entries = [...entriesOf(manifest).map(({ file }) => file), ...commands];
  const bundler = await rolldown({
    cwd: resolve(folder),
    input: Object.fromEntries(
      entries.map((file) => [file.replace(/^\.\/dist\/|\.js$/g, ""), file]),
    ),
    external: (id) => /^[^./]/.test(id) && id !== KIT && !id.startsWith(`${KIT}/`),
    platform: "neutral",
    plugins: [mapTo(resolve(release))],
    checks: { bundlerTimings: false }, // a warning about a slow machine
    onLog(_level, { message }) {
      throw new Error(`${folder}: ${message}`);
    },
  });
  const { output } = await bundler.write({
    dir: resolve(release, "dist"),
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name].js",
    sourcemap: true,
    comments: { annotation: true, jsdoc: false, legal: true },
  });
  await bundler.close();
  const kit = `${resolve(KIT_FOLDER, "dist")}/`;
  return output
    .flatMap((chunk) => ("moduleIds" in chunk ? chunk.moduleIds : []))
    .filter((id) => id.startsWith(kit))
    .map((id) => id.slice(kit.length, -".js".length));
}

/** Hands on the maps that TypeScript has written, so that those of the bundles lead to `src` beside them. */
function mapTo(release) {
  return {
    name: "source-map",
    load(id) {
      const map = readJson(`${id}.map`);
      const sources = map.sources.map((source) => {
        const from = resolve(dirname(id), source);
        const path = relative(resolve(KIT_FOLDER, "src"), from);
        return path.startsWith("..")
          ? join(release, relative(dirname(release), from))
          : join(release, "src/kit", path);
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

/**
 * Puts the sources of the kit that a bundle has into the release, and the declarations that others refer to, which then
 * name the files that have them: an index would lead to all of the kit, and to types of Node.
 *
 * @param {string} release
 * @param {string[]} bundled
 */
function takeOverKit(release, bundled) {
  const homes = homesInKit();
  const declared = new Set();
  for (const file of readdirSync(`${release}/dist`, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const home = (entry, name) => {
      const path = homes.get(`${entry} ${name}`);
      if (path === undefined) throw new Error(`${release}: ${file} has no ${name} of ${entry}`);
      declared.add(path);
      const target = relative(dirname(file), `kit/${path}.js`);
      return target.startsWith(".") ? target : `./${target}`;
    };
    const text = readFileSync(join(release, "dist", file), "utf8");
    const own = text
      .replace(
        /^(import|export)( type)? \{([^}]*)\} from "(@holdfast\/kit[^"]*)";/gm,
        (_, keyword, type = "", list, entry) =>
          list
            .split(",")
            .map((one) => one.trim())
            .map((one) => {
              const [name] = one.replace(/^type /, "").split(" ");
              return `${keyword}${type} { ${one} } from "${home(entry, name)}";`;
            })
            .join("\n"),
      )
      .replace(
        /import\("(@holdfast\/kit[^"]*)"\)\.(\w+)/g,
        (_, entry, name) => `import("${home(entry, name)}").${name}`,
      );
    if (own !== text) writeFileSync(join(release, "dist", file), own);
  }
  for (const path of declared) {
    const from = `${KIT_FOLDER}/dist/${path}.d.ts`;
    const to = `${release}/dist/kit/${path}.d.ts`;
    const text = readFileSync(from, "utf8");
    for (const [, module = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g))
      declared.add(join(dirname(path), module));
    cpSync(from, to);
    const map = readJson(`${from}.map`);
    const sources = [relative(dirname(to), `${release}/src/kit/${path}.ts`)];
    writeFileSync(`${to}.map`, JSON.stringify({ ...map, sources }));
  }
  for (const path of new Set([...bundled, ...declared]))
    cpSync(`${KIT_FOLDER}/src/${path}.ts`, `${release}/src/kit/${path}.ts`);
}

/** The file of each export of the kit, by its entry and name, as a path without its end. */
function homesInKit() {
  return new Map(
    entriesOf(readJson(`${KIT_FOLDER}/package.json`)).flatMap(({ name: entry, types }) => {
      const index = types.replace(/^\.\/dist\/|\.d\.ts$/g, "");
      const text = readFileSync(`${KIT_FOLDER}/src/${index}.ts`, "utf8");
      return [...text.matchAll(/^export(?: type)? \{([^}]*)\} from "([^"]+)\.ts";/gm)].flatMap(
        ([, list = "", module = ""]) =>
          list.split(",").map((one) => {
            const name = one.trim().replace(/^type /, "");
            return /** @type {const} */ ([`${entry} ${name}`, join(dirname(index), module)]);
          }),
      );
    }),
  );
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
