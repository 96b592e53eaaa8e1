// Holds the sources to tools/layers.cjs: each folder of each workspace is listed, imports go down the list,
// packages are imported through their entry points, and no import closes a cycle, of types neither.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cruise } from "dependency-cruiser";

const LIST = "tools/layers.cjs";

/**
 * @typedef {Record<string, Record<string, string[]>>} Layers the imports of each folder of each workspace
 * @param {string} root the repository
 * @param {Layers} layers tools/layers.cjs
 * @returns {Promise<string[]>} the problems, a line each
 */
export async function checkLayers(root, layers) {
  const packages = packagesOf(root);
  const workspaces = Object.entries(layers).map(([path, folders]) => ({ path, folders }));
  const unlisted = packages
    .filter(({ home }) => !workspaces.some(({ path }) => isIn(home, path)))
    .map(({ home }) => `${home}: not in ${LIST} yet. List its folders there`);
  const misplaced = workspaces.flatMap((workspace, index) => {
    const above = workspaces.slice(0, index);
    const known = packages.filter(({ home }) => above.some(({ path }) => isIn(home, path)));
    return checkList(root, workspace, [
      ...above.map(({ path }) => path),
      ...known.flatMap(({ home, name }) => [home, name]),
    ]);
  });
  return [...unlisted, ...misplaced, ...(await checkImports(root, workspaces, packages))].sort();
}

/** Each listed folder exists, and imports from what stands above it. */
function checkList(root, { path, folders }, above) {
  return Object.entries(folders).flatMap(([folder, imports], index, all) => {
    const source = `${path}/${folder}`;
    if (folder !== "*" && !existsSync(join(root, source)))
      return [`${source}: does not exist. Remove it from ${LIST}`];
    const known = [...above, ...all.slice(0, index).map(([name]) => name)];
    return imports
      .filter((name) => !name.startsWith("npm:") && !known.some((other) => isIn(other, name)))
      .map((name) => `${source}: lists ${name}, which does not stand above it in ${LIST}`);
  });
}

async function checkImports(root, workspaces, packages) {
  const tests = packages.map(({ home }) => `${home}/test`);
  const roots = [...workspaces.map(({ path }) => path), ...tests];
  const { output } = await cruise(
    roots.filter((path) => existsSync(join(root, path))),
    {
      baseDir: root,
      doNotFollow: { path: ["node_modules", "(^|/)dist/"] },
      tsPreCompilationDeps: true,
      validate: true,
      ruleSet: { forbidden: [{ name: "cycle", from: {}, to: { circular: true } }] },
      enhancedResolveOptions: {
        exportsFields: ["exports"],
        conditionNames: ["@holdfast/source", "types", "import", "default"],
      },
    },
  );
  if (typeof output === "string") throw new Error(output);
  const cycles = output.summary.violations.map(({ from, cycle = [] }) => {
    const path = [from, ...cycle.map(({ name }) => name)].join(" -> ");
    return `${from}: import cycle: ${path}`;
  });
  const entries = packages.flatMap((one) => one.entries);
  const others = output.modules
    .filter(({ source }) => !/(^|\/)(node_modules|dist)\//.test(source))
    .flatMap(({ source, dependencies }) => {
      const imports = dependencies.filter(({ coreModule }) => !coreModule);
      if (/(^|\/)test\//.test(source)) return checkTest(source, imports, packages);
      const workspace = workspaces.find(({ path }) => isIn(path, source));
      return workspace === undefined ? [] : checkSource(source, imports, workspace, entries);
    });
  return [...cycles, ...others];
}

/** A test may use the insides of its own package, and of no other. */
function checkTest(source, imports, packages) {
  const others = packages.filter(({ home, entries }) => !isIn(home, source) && entries.length > 0);
  return imports
    .filter(({ module }) => module.startsWith("."))
    .filter(({ resolved }) => others.some(({ home }) => isIn(home, resolved)))
    .map(({ resolved }) => `${source}: imports ${resolved}, past the entry points of its package`);
}

/** A source imports what its folder lists, or its own folder. An entry point may import all of its package. */
function checkSource(source, imports, { path, folders }, entries) {
  const folder = folderOf(path, folders, source);
  const isEntry = entries.includes(source);
  if (folder === undefined && !isEntry)
    return [`${source}: in no folder of ${LIST}. List its folder there`];
  const listed = [folder, ...(folders[folder] ?? []), ...(folders["*"] ?? [])];
  const allowed = isEntry ? [...listed, ...Object.keys(folders)] : listed;
  return imports.flatMap(({ module, resolved }) => {
    const isInside = isIn(path, resolved);
    if (isInside && entries.includes(resolved))
      return [`${source}: imports ${resolved}, an entry point of its own package`];
    const name = isInside ? folderOf(path, folders, resolved) : outsideName(module, resolved);
    if (allowed.some((one) => one === name || one === anyOf(name))) return [];
    if (!isInside && module.startsWith(".") && allowed.some((one) => isIn(one, resolved)))
      return [];
    return [`${source}: imports ${name ?? resolved}, which ${LIST} does not list for ${folder}`];
  });
}

/** The nearest listed folder of a file: the file itself, a folder around it, `.`, or `*` if that is the whole list. */
function folderOf(workspace, folders, source) {
  if (Object.keys(folders).join() === "*") return "*";
  const steps = source.slice(workspace.length + 1).split("/");
  const around = steps.map((_, index) => steps.slice(0, steps.length - index).join("/"));
  return [...around, ...(steps.length === 1 ? ["."] : [])].find((name) =>
    Object.hasOwn(folders, name),
  );
}

/** The name in the list for an import of another package, or of a file in another workspace. */
function outsideName(module, resolved) {
  if (module.startsWith(".")) return resolved;
  if (module.startsWith("@holdfast/")) return module;
  return `npm:${module.split("/", module.startsWith("@") ? 2 : 1).join("/")}`;
}

function anyOf(name) {
  return name?.startsWith("npm:") ? "npm:*" : undefined;
}

/** Each workspace package: its folder, its name, and the sources of its entry points. */
function packagesOf(root) {
  const homes = [...foldersIn(root, "packages"), ...foldersIn(root, ".")];
  return homes
    .filter((home) => existsSync(join(root, home, "package.json")))
    .map((home) => {
      const { name, exports = {} } = JSON.parse(
        readFileSync(join(root, home, "package.json"), "utf8"),
      );
      const targets = Object.values(exports).map((target) => target["@holdfast/source"]);
      return { home, name, entries: targets.filter(Boolean).map((entry) => join(home, entry)) };
    });
}

function foldersIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
    .map(({ name }) => join(folder, name));
}

function isIn(folder, path) {
  return path === folder || path.startsWith(`${folder}/`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { default: layers } = await import("./layers.cjs");
  const problems = await checkLayers(process.cwd(), layers);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
