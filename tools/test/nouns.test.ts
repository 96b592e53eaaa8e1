// One meaning per noun in the public API: a name that entry points export has one declaration.
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { entriesOf, publicPackages } from "../packages.mjs";

/** Names with several declarations and one meaning, and why each has several. */
const SAME: Readonly<Record<string, string>> = {
  Logger: "explore needs a part of that of controller, and imports clock and wait alone",
  createTableSql: "a pair of dialects of SQL: the same task, with the same parameters",
  explore: "runs a program in worlds with faults; that of fake-apiserver runs an operator",
  migrate: "a pair of dialects of SQL: the same task, with the same parameters",
  migrationSql: "a pair of dialects of SQL: the same task, with the same parameters",
};

type Exported = readonly [name: string, declaredIn: string];

/** The exports of a file, each with the file that declares it. */
function exportsOf(file: string): readonly Exported[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return forwarded(file, statement);
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported !== true) return [];
    const declarations: readonly ts.NamedDeclaration[] = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations
      : [statement as ts.DeclarationStatement];
    return declarations.map(({ name }): Exported => [(name as ts.Identifier).text, file]);
  });
}

/** What `export … from` takes from other files. What comes from a package is exported there. */
function forwarded(file: string, { exportClause, moduleSpecifier }: ts.ExportDeclaration) {
  if (exportClause === undefined || !ts.isNamedExports(exportClause))
    throw new Error(`${file}: name each export`);
  const from = (moduleSpecifier as ts.StringLiteral | undefined)?.text;
  if (from === undefined) throw new Error(`${file}: export from the file that declares it`);
  if (!from.startsWith(".")) return [];
  const declared = new Map(exportsOf(resolve(dirname(file), from)));
  return exportClause.elements.map(({ name, propertyName }): Exported => {
    const place = declared.get((propertyName ?? name).text);
    if (place === undefined) throw new Error(`${file}: ${name.text} is not in ${from}`);
    return [name.text, place];
  });
}

it("a noun has one declaration in the public API, or a reason for several", () => {
  const places = new Map<string, Set<string>>();
  for (const { folder, manifest } of publicPackages())
    for (const { types } of entriesOf(manifest)) {
      const source = `${folder}/${types.replace("dist/", "src/").replace(".d.ts", ".ts")}`;
      expect(existsSync(source), source).toBe(true);
      for (const [name, place] of exportsOf(source))
        places.set(name, (places.get(name) ?? new Set()).add(relative("packages", place)));
    }
  const several = [...places].filter(([, files]) => files.size > 1);
  const unexplained = several.filter(([name]) => SAME[name] === undefined);
  expect(unexplained.map(([name, files]) => `${name}: ${[...files].join(", ")}`)).toEqual([]);
  expect(Object.keys(SAME)).toEqual(several.map(([name]) => name).sort());
});
