// Finds the clauses that stand in for a noun: "what was added twice runs once" means "a key added twice
// runs once". Prints every place and fails when the sources or the documentation exceed their limit.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { documentation } from "./doc-copies.mjs";

/** Most clauses per area. Lower a limit when the count has dropped; never raise one. */
const LIMITS = { sources: 60, docs: 30 };

const CLAUSE = /\b(?:what|who|whoever|whatever|nobody|somebody)\b(?!-)/gi;

/**
 * @typedef {{ line: number, text: string }} Place
 * @param {string} file its extension decides how it is read
 * @param {string} text
 * @returns {Place[]} one per clause: in comments and strings of code, in Markdown outside `code`
 */
export function clausesOf(file, text) {
  const prose = extname(file) === ".ts" ? withoutNames(text) : withoutCode(text);
  return [...prose.matchAll(CLAUSE)].map(({ index }) => {
    const line = text.slice(0, index).split("\n").length;
    return { line, text: (text.split("\n")[line - 1] ?? "").trim() };
  });
}

/** Blanks every identifier, so that a parameter called `what` is not a clause. */
function withoutNames(text) {
  const source = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  const letters = text.split("");
  const visit = (node) => {
    if (ts.isIdentifier(node)) letters.fill(" ", node.getStart(source), node.end);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return letters.join("");
}

function withoutCode(text) {
  return text.replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
}

/**
 * @param {Record<string, number>} counts clauses per area
 * @param {Record<string, number>} limits
 * @returns {string[]} the areas that reach their limit, one line each
 */
export function excesses(counts, limits) {
  return Object.entries(counts)
    .filter(([area, count]) => !(count < (limits[area] ?? 0)))
    .map(([area, count]) => `${area}: ${count} clauses, allowed: fewer than ${limits[area]}`);
}

function placesOf(root, files) {
  return files.flatMap((file) =>
    clausesOf(file, readFileSync(join(root, file), "utf8")).map(
      ({ line, text }) => `${file}:${line}: ${text}`,
    ),
  );
}

function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const sources = readdirSync(join(root, "packages"))
    .flatMap((name) => filesBelow(root, `packages/${name}/src`))
    .filter((file) => [".ts", ".html"].includes(extname(file)));
  const docs = documentation(root).filter((file) => file.endsWith(".md"));
  const places = { sources: placesOf(root, sources), docs: placesOf(root, docs) };
  for (const place of Object.values(places).flat()) console.log(place);

  const counts = { sources: places.sources.length, docs: places.docs.length };
  for (const [area, count] of Object.entries(counts))
    console.log(`${area}: ${count} clauses, allowed: fewer than ${LIMITS[area]}`);
  if (excesses(counts, LIMITS).length > 0) process.exitCode = 1;
}
