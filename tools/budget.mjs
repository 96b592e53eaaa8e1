// The budget of the house: how many lines of source a package may have. `node tools/budget.mjs` shows both.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The numbers. Who raises one says in the commit what was removed for it, or why nothing was. */
const FILE = new URL("budget.json", import.meta.url);

/** @returns {Record<string, number>} the lines that a package may have, by its folder */
export const budget = () => JSON.parse(readFileSync(FILE, "utf8"));

/** @returns {Record<string, number>} the lines of `src` of each package, by its folder */
export function linesOfPackages(root = "packages") {
  const names = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return Object.fromEntries(names.map(({ name }) => [name, linesIn(join(root, name, "src"))]));
}

function linesIn(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const texts = files
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8"));
  return texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
}

/**
 * @param {Record<string, number>} lines
 * @param {Record<string, number>} allowed
 * @returns {string[]} packages that have grown beyond their number, have none, or are gone
 */
export function problemsOfBudget(lines, allowed) {
  const names = [...new Set([...Object.keys(lines), ...Object.keys(allowed)])];
  return names.flatMap((name) => {
    const [has, may] = [lines[name], allowed[name]];
    if (may === undefined) return [`packages/${name} has no number in tools/budget.json`];
    if (has === undefined) return [`tools/budget.json: packages/${name} is gone`];
    if (has <= may) return [];
    return [
      `packages/${name} has ${has} lines of source, and ${may} are allowed: remove ${has - may}, or raise the number in tools/budget.json by a commit that says what was removed for it`,
    ];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const allowed = budget();
  for (const [name, lines] of Object.entries(linesOfPackages()))
    console.log(`${name.padEnd(18)} ${String(lines).padStart(6)} of ${allowed[name]}`);
}
