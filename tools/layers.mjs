// Holds the sources to tools/layers.cjs: no import upward or sideways, no cycle (of types neither), no
// file that the list does not know, no entry without its file.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cruise } from "dependency-cruiser";

/**
 * @typedef {{ on?: string[], npm?: string[], layers: string[][] }} Folder
 * @param {string} root the repository
 * @param {Record<string, Folder>} folders tools/layers.cjs
 * @returns {Promise<string[]>} what is wrong, a line each
 */
export async function checkLayers(root, folders) {
  return [...checkList(root, folders), ...(await checkImports(root, folders))];
}

function checkList(root, folders) {
  const listed = listedSources(folders);
  const present = publicSources(root);
  return [
    ...present
      .filter((file) => !listed.includes(file))
      .map((file) => `${file}: in no layer yet. Say in tools/layers.cjs which one it belongs to`),
    ...listed
      .filter((file) => !present.includes(file))
      .map((file) => `${file}: does not exist. Take it out of tools/layers.cjs`),
    ...listed
      .filter((file, index) => listed.indexOf(file) !== index)
      .map((file) => `${file}: in two layers. Keep one in tools/layers.cjs`),
  ];
}

function listedSources(folders) {
  return Object.entries(folders).flatMap(([folder, { layers }]) =>
    layers.flat().map((file) => `${folder}/${file}`),
  );
}

async function checkImports(root, folders) {
  const { output } = await cruise(
    publicPackages(root).map((name) => `packages/${name}/src`),
    {
      baseDir: root,
      doNotFollow: { path: "node_modules" },
      tsPreCompilationDeps: true,
      validate: true,
      ruleSet: {
        forbidden: [noCycle, entryOnly(root), ...Object.entries(folders).flatMap(rulesOf(folders))],
      },
      enhancedResolveOptions: {
        exportsFields: ["exports"],
        conditionNames: ["@holdfast/source", "types", "import", "default"],
      },
    },
  );
  if (typeof output === "string") throw new Error(output);
  const listed = listedSources(folders);
  return output.summary.violations
    .filter(({ to }) => !to.startsWith("packages/") || listed.includes(to))
    .map(describe);
}

const noCycle = { name: "cycle", severity: "error", from: {}, to: { circular: true } };

/** A package is imported through what its package.json exports. */
function entryOnly(root) {
  const entries = publicPackages(root).flatMap((name) =>
    Object.values(manifestOf(root, name).exports ?? {})
      .map((targets) => targets["@holdfast/source"])
      .filter(Boolean)
      .map((entry) => `^${join("packages", name, entry)}$`),
  );
  return {
    name: "entry",
    severity: "error",
    from: { path: "^packages/([^/]+)/" },
    to: { path: "^packages/", pathNot: ["^packages/$1/", ...entries] },
  };
}

/** One rule for each layer: whatever is imported must be below. */
function rulesOf(folders) {
  return ([folder, { on = [], npm = [], layers }]) =>
    layers.map((files, index) => ({
      name: "layer",
      severity: "error",
      from: { path: anyOf(folder, files) },
      to: {
        dependencyTypesNot: ["core"],
        pathNot: [
          ...layers.slice(0, index).map((below) => anyOf(folder, below)),
          ...on.flatMap((other) => folders[other].layers.map((below) => anyOf(other, below))),
          ...npm.map((name) => `(^|/)node_modules/${name}/`),
        ],
      },
    }));
}

function anyOf(folder, files) {
  return `^${folder}/(${files.join("|").replaceAll(".", "\\.")})$`;
}

/** @param {{ from: string, to: string, rule: { name: string }, cycle?: { name: string }[] }} violation */
function describe({ from, to, rule, cycle = [] }) {
  const path = [from, ...cycle.map((step) => step.name)].join(" -> ");
  const what = {
    cycle: `imports itself in the end: ${path}`,
    entry: `imports ${to}, past the entry points of its package`,
    layer: `imports ${to}, which is not below it in tools/layers.cjs`,
  };
  return `${from}: ${what[rule.name]}`;
}

function publicPackages(root) {
  return readdirSync(join(root, "packages"))
    .filter((name) => existsSync(join(root, "packages", name, "package.json")))
    .filter((name) => !manifestOf(root, name).private);
}

function manifestOf(root, name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

function publicSources(root) {
  return publicPackages(root).flatMap((name) => {
    const folder = `packages/${name}/src`;
    return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/${file}`);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { default: folders } = await import("./layers.cjs");
  const problems = await checkLayers(process.cwd(), folders);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
