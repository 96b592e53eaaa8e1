import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { entryPoints, reportsOf, staleReports } from "../api-report.mjs";

const folder = tempFolder();
const FILES = {
  "low/package.json":
    '{ "name": "@t/low", "type": "module", "exports": { "types": "./index.d.ts" } }',
  "low/index.d.ts": "export declare class Low {\n}\n",
  "high/package.json": '{ "name": "@t/high", "type": "module" }',
  "high/index.d.ts": [
    'export { Low } from "../low/index.js";',
    'export { hidden as shown, type Options, overloaded } from "./part.js";',
    "/** A gate. */",
    "export declare class Gate {",
    "  #private;",
    "  private secret;",
    "  private constructor();",
    "  protected inner(): void;",
    "  /** Opens it. */",
    "  open(options?: Options): Promise<void>;",
    "}",
  ].join("\n"),
  "high/part.d.ts": [
    "export interface Options { readonly wide?: boolean | undefined }",
    "export declare const hidden: number;",
    "export declare function overloaded(a: string): void;",
    "export declare function overloaded(a: number): void;",
    "export declare const unreachable: string;",
  ].join("\n"),
};
beforeAll(() => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});

describe("the report of an entry point", () => {
  const entry = (name: string, file: string) => ({
    name,
    declarations: join(folder, file),
    report: `${name}.txt`,
  });

  // In one call: the declarations of the language take longer than these.
  let made: Map<string, string>;
  beforeAll(() => {
    const [high, low] = [
      entry("@t/high", "high/index.d.ts"),
      entry("@t/low/internal", "low/index.d.ts"),
    ];
    made = reportsOf([high, low]);
  });

  it("has each export by name, without comments and without what users cannot reach", () => {
    const report = made.get("@t/high.txt");
    expect(report?.split("\n\n").slice(1)).toEqual([
      [
        "export declare class Gate {",
        "    private constructor();",
        "    protected inner(): void;",
        "    open(options?: Options): Promise<void>;",
        "}",
      ].join("\n"),
      'export { Low } from "@t/low";',
      "export interface Options {\n    readonly wide?: boolean | undefined;\n}",
      "export declare function overloaded(a: string): void;\nexport declare function overloaded(a: number): void;",
      "export declare const hidden: number;\nexport { hidden as shown };\n",
    ]);
  });

  it("marks /internal as not public", () => {
    const report = made.get("@t/low/internal.txt");
    expect(report).toMatch(
      /^\/\/ @t\/low\/internal: shared .* not public\. It may change with a minor/,
    );
  });

  it("is one for each entry point of each package", () => {
    const manifest = {
      name: "@t/high",
      exports: {
        ".": { types: "./a.d.ts" },
        "./b": { types: "./b.d.ts" },
        "./package.json": "./p",
      },
    };
    const found = entryPoints([{ folder: "packages/high", manifest }]);
    expect(found.map(({ name, report }) => [name, report])).toEqual([
      ["@t/high", "packages/high/api/index.api.txt"],
      ["@t/high/b", "packages/high/api/b.api.txt"],
    ]);
  });
});

describe("reports", () => {
  it("are stale when they differ, are missing, or have no entry point", () => {
    const home = join(folder, "packages/high");
    const path = (name: string) => `${home}/api/${name}.api.txt`;
    mkdirSync(`${home}/api`, { recursive: true });
    for (const name of ["same", "other", "gone"]) writeFileSync(path(name), name);
    const reports = new Map([
      [path("same"), "same"],
      [path("other"), "changed"],
      [path("new"), "new"],
    ]);
    expect(staleReports(reports, [{ folder: home }])).toEqual(["other", "new", "gone"].map(path));
  });
});
