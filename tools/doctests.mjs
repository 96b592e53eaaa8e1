// Makes modules of the documentation: every ```ts block of every Markdown file and of TSDoc in
// packages/*/src becomes a file under packages/examples/doctest that `tsc -b` compiles, and one test
// there runs them all.
//
// A line that ends in `// => text` says what is printed by console.log, in order; a line that is
// such a comment alone says one line more. A block that claims output must claim all of it.
// ```ts no-run is compiled only. ```ts ignore is left alone, in docs/adr and nowhere else: what was
// decided against need not compile.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { copyAnew, documentation, withoutCopies } from "./doc-copies.mjs";

/**
 * @typedef {object} Example
 * @property {number} line where its fence stands, counted from 1
 * @property {string[]} code
 * @property {string[]} words what follows the language: `no-run`, `ignore`
 * @property {{ line: number, text: string }[]} claims what it says it prints
 */

/**
 * @param {string} file
 * @param {string} text
 * @returns {Example[]} the TypeScript blocks of a Markdown or TypeScript file
 */
export function examplesOf(file, text) {
  const lines = text.split("\n").map(file.endsWith(".ts") ? commentText : (line) => line);
  const examples = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = /^\s*(`{3,})(\w*) *(.*)$/.exec(lines[at] ?? "");
    if (!fence) continue;
    const [, ticks = "", language = "", words = ""] = fence;
    const line = at + 1;
    const close = new RegExp(`^\\s*${ticks}\`*\\s*$`);
    const end = lines.findIndex((candidate, index) => index > at && close.test(candidate));
    if (end < 0) throw new Error(`${file}:${line}: this block is never closed`);
    const code = lines.slice(line, end);
    if (["ts", "typescript"].includes(language))
      examples.push({
        line,
        code,
        words: words.split(" ").filter(Boolean),
        claims: claimsOf(code, line),
      });
    at = end;
  }
  return examples;
}

/** What a line of TypeScript says inside a block comment; empty for code. */
function commentText(line) {
  return /^\s*\*(?: (.*)|(\s*))$/.exec(line)?.[1] ?? "";
}

function claimsOf(code, fenceLine) {
  return code.flatMap((line, index) => {
    const claim = /\/\/ => ?(.*)$/.exec(line);
    return claim ? [{ line: fenceLine + 1 + index, text: (claim[1] ?? "").trim() }] : [];
  });
}

/**
 * @param {string} file
 * @param {Example} example
 * @returns {string | undefined} what is wrong with the words after ```ts
 */
export function faultOf(file, { line, words }) {
  const allowed = file.startsWith("docs/adr/") ? ["no-run", "ignore"] : ["no-run"];
  const wrong = words.find((word) => !allowed.includes(word));
  if (wrong === undefined) return undefined;
  return `${file}:${line}: \`ts ${wrong}\` is not allowed here: make the example run, or at least compile (\`ts no-run\`)`;
}

/**
 * The module of an example; its code keeps the line numbers it has in the documentation.
 *
 * @param {string} file
 * @param {Example} example
 */
export function moduleOf(file, { line, code }) {
  return [`// ${file}:${line}`, ...Array(line - 1).fill(""), ...code, "export {};", ""].join("\n");
}

/** Writes the modules and their test into `out`. */
function writeDoctests(root, out) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const files = documentation(root).sort();
  const examples = files.flatMap((file) =>
    examplesOf(file, withoutCopies(read(file))).map((example) => ({ file, example })),
  );
  const stale = files.filter((file) => copyAnew(read(file), read) !== read(file));
  const faults = [
    ...stale.map(
      (file) => `${file}: a copy differs from its file. Run \`node tools/doc-copies.mjs\``,
    ),
    ...examples.flatMap(({ file, example }) => faultOf(file, example) ?? []),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));

  rmSync(out, { recursive: true, force: true });
  const tests = [];
  for (const { file, example } of examples) {
    if (example.words.includes("ignore")) continue;
    const path = `${file}/L${example.line}.ts`;
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), moduleOf(file, example));
    if (!example.words.includes("no-run")) tests.push(testOf(file, path, example));
  }
  writeFileSync(join(out, "doc.test.ts"), suiteOf(tests, relative(out, root)));
  return `${examples.length} examples in the documentation, ${tests.length} of them run`;
}

/**
 * The code of a `DocExample`. Its hash changes with the text and not with its place.
 *
 * @param {string} file
 * @param {string} path
 * @param {Pick<Example, "line" | "code" | "claims">} example
 */
export function testOf(file, path, { line, code, claims }) {
  const hash = createHash("sha256").update(code.join("\n")).digest("hex");
  const fields = JSON.stringify({ name: `${file}:${line}`, hash, claims }).slice(1, -1);
  return `  { ${fields}, run: () => import("./${path}") },`;
}

function suiteOf(tests, root) {
  return `import { testExamples } from "${root}/test/doc-example.ts";

testExamples([
${tests.join("\n")}
]);
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  try {
    console.log(writeDoctests(root, join(root, "packages/examples/doctest")));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
