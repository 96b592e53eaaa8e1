// Guides show whole files of this repository. A block under `<!-- copy of path -->` is that file, with
// its relative imports as they are for a reader who saves it in a folder of his own. `node
// tools/doc-copies.mjs` copies all of them anew; tools/doctests.mjs fails on one that differs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const COPY = /^<!-- copy of (\S+) -->(?:\n\n```[\s\S]*?\n```(?=\n|$))?/gm;
const LANGUAGES = { ".ts": "ts", ".yaml": "yaml", ".json": "json" };

const SKIPPED = /(^|\/)(node_modules|dist|release|coverage|reports|doctest|\.[^/]+)$|^docs\/api$/;

/**
 * @param {string} root
 * @param {string} [folder]
 * @returns {string[]} every Markdown file, and every source of a package, below the root
 */
export function documentation(root, folder = "") {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return SKIPPED.test(path) ? [] : documentation(root, path);
    return /\.md$|^packages\/[^/]+\/src\/.*\.ts$/.test(path) ? [path] : [];
  });
}

/**
 * @param {string} text a Markdown file
 * @param {(path: string) => string} read
 * @returns {string} the same with every copy made anew
 */
export function copyAnew(text, read) {
  return text.replace(COPY, (_, path) => {
    const language = LANGUAGES[extname(path)] ?? "text";
    return `<!-- copy of ${path} -->\n\n\`\`\`${language}\n${forReaders(read(path)).trimEnd()}\n\`\`\``;
  });
}

/** The text without the copies: their files are compiled and run where they are. */
export function withoutCopies(text) {
  return text.replace(COPY, (copy) => copy.replace(/[^\n]+/g, ""));
}

function forReaders(code) {
  return code.replace(/from "\.{1,2}\/(?:[^"/]+\/)*([^"/]+)\.ts"/g, 'from "./$1.js"');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const file of documentation(root).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(join(root, file), "utf8");
    const copied = copyAnew(text, (path) => readFileSync(join(root, path), "utf8"));
    if (copied !== text) writeFileSync(join(root, file), copied);
  }
}
