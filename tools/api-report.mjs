// Writes what users can call: `packages/NAME/api/ENTRY.api.txt`, one report for each entry point, made of the
// declarations that `tsc -b` has written. A change of the public surface is a change of a report, so a
// review sees it.
//
// `node tools/api-report.mjs` writes the reports, `node tools/api-report.mjs --check` fails if one is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { readArguments } from "./arguments.mjs";
import { entriesOf, publicPackages } from "./packages.mjs";

const printer = ts.createPrinter({ removeComments: true });

/**
 * @typedef {object} Entry
 * @property {string} name - such as `@holdfast/clock/testing`
 * @property {string} declarations - the path of its `.d.ts`
 * @property {string} report - the path of its report
 */

/** @returns {Entry[]} */
export function entryPoints(packages = publicPackages()) {
  return packages.flatMap(({ folder, manifest }) =>
    entriesOf(manifest).map(({ name, types, report }) => ({
      name,
      declarations: resolve(folder, types),
      report: `${folder}/${report}`,
    })),
  );
}

/**
 * @param {Entry[]} entries
 * @returns {Map<string, string>} the text of each report
 */
export function reportsOf(entries) {
  const program = ts.createProgram(
    entries.map(({ declarations }) => declarations),
    {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
      types: [],
      noEmit: true,
      skipLibCheck: true,
    },
  );
  return new Map(entries.map((entry) => [entry.report, reportOf(program, entry)]));
}

/**
 * @param {ts.Program} program
 * @param {Entry} entry
 */
function reportOf(program, { name, declarations }) {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(declarations);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${declarations} is missing: run tsc -b`);
  const home = packageOf(declarations);
  const exports = checker
    .getExportsOfModule(module)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((symbol) => exportText(checker, symbol, home));
  const title = name.endsWith("/internal")
    ? `// ${name}: shared by the Holdfast packages and not public. It may change with a minor version.`
    : `// ${name}`;
  return `${[`${title}\n// Made by tools/api-report.mjs; \`npm run api\` makes it anew.`, ...exports].join("\n\n")}\n`;
}

/**
 * The declarations of an export, or where it comes from if that is another package.
 *
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 * @param {string} home
 */
function exportText(checker, symbol, home) {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const all = target.declarations ?? [];
  const [first] = all;
  if (first === undefined) throw new Error(`${symbol.name} has no declaration`);
  const origin = packageOf(first.getSourceFile().fileName);
  if (origin !== home) return `export { ${symbol.name} } from "${nameOf(origin)}";`;
  const texts = all.map((declaration) => textOf(declaration));
  const renamed =
    target.name === symbol.name ? [] : [`export { ${target.name} as ${symbol.name} };`];
  return [...texts, ...renamed].join("\n");
}

/** @param {ts.Declaration} declaration */
function textOf(declaration) {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const { transformed } = ts.transform(node, [publicOnly]);
  const [result = node] = transformed;
  return printer.printNode(ts.EmitHint.Unspecified, result, declaration.getSourceFile());
}

/** Without members that only the class itself can reach. @type {ts.TransformerFactory<ts.Node>} */
const publicOnly = (context) => (root) =>
  ts.visitEachChild(root, (member) => (isPrivate(member) ? undefined : member), context);

/** @param {ts.Node} node */
function isPrivate(node) {
  // A private constructor stays: it says that users cannot call `new`.
  if (!ts.isClassElement(node) || ts.isConstructorDeclaration(node)) return false;
  if (node.name !== undefined && ts.isPrivateIdentifier(node.name)) return true;
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0;
}

/** The folder of the package that holds a file. */
function packageOf(file) {
  let folder = dirname(file);
  while (!existsSync(`${folder}/package.json`)) folder = dirname(folder);
  return folder;
}

function nameOf(folder) {
  return JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).name;
}

/**
 * @param {Map<string, string>} reports
 * @param {{ folder: string }[]} [packages]
 * @returns {string[]} files that differ from the declarations, or that have no entry point any more
 */
export function staleReports(reports, packages = publicPackages()) {
  const wrong = [...reports].filter(
    ([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text,
  );
  return [...wrong.map(([path]) => path), ...leftovers(reports, packages)];
}

function leftovers(reports, packages) {
  return packages
    .map(({ folder }) => `${folder}/api`)
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
    .filter((path) => !reports.has(path));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const isCheck = readArguments(
    "npm run api -- [options]\n  --check   lists stale reports and writes none\n  --help",
    { options: { check: { type: "boolean" } } },
    ({ values }) => values["check"],
  );
  const reports = reportsOf(entryPoints());
  const stale = staleReports(reports);
  if (isCheck) {
    for (const path of stale) console.error(`${path} is stale`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    for (const path of stale.filter((one) => !reports.has(one))) rmSync(path);
    for (const [path, text] of reports) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    console.log(`${reports.size} reports, ${stale.length} of them changed`);
  }
}
