import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { staleReports, surfaceOf } from "../api-report.mjs";
import { publicPackages } from "../packages.mjs";

const folder = tempFolder();

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

describe("the reports of a package", () => {
  const manifest = {
    name: "@t/high",
    version: "1.0.0",
    type: "module",
    exports: {
      ".": { types: "./index.d.ts" },
      "./more": { types: "./more.d.ts" },
      "./package.json": "./package.json",
    },
  };
  let surface: ReturnType<typeof surfaceOf>;
  beforeAll(() => {
    write({
      "high/package.json": JSON.stringify(manifest),
      "high/index.d.ts": [
        'export { hidden as shown, type Options, overloaded } from "./part.js";',
        'import { Base, type Own } from "./part.js";',
        "/** A gate. */",
        "export declare class Gate extends Base {",
        "  #private;",
        "  private secret;",
        "  private constructor();",
        "  protected inner(): void;",
        "  /** Opens it. */",
        "  open(own?: Own): Promise<void>;",
        "}",
      ].join("\n"),
      "high/more.d.ts":
        'import type { Options } from "./part.js";\nexport declare function more(options: Options): void;\n',
      "high/part.d.ts": [
        "export interface Options {\n    readonly wide?: boolean | undefined;\n}",
        "export interface Own {\n    readonly mine: string;\n}",
        "export declare class Base {\n    step(): number;\n}",
        "export declare const hidden: number;",
        "export declare function overloaded(a: string): void;",
        "export declare function overloaded(a: number): void;",
        "export declare const unreachable: string;",
      ].join("\n"),
    });
    surface = surfaceOf([{ folder: join(folder, "high"), manifest }]);
  });
  const blocks = (name: string) =>
    surface.reports.get(join(folder, `high/api/${name}.api.txt`))?.split("\n\n");

  it("have each export, base class and own type, without comments and private members", () => {
    const [, ...declarations] = blocks("index") ?? [];
    expect(declarations.map((text) => text.trim())).toEqual([
      "class Base {\n    step(): number;\n}",
      [
        "export class Gate extends Base {",
        "    protected inner(): void;",
        "    open(own?: Own): Promise<void>;",
        "}",
      ].join("\n"),
      "export interface Options {\n    readonly wide?: boolean | undefined;\n}",
      "export function overloaded(a: string): void;",
      "export function overloaded(a: number): void;",
      "interface Own {\n    readonly mine: string;\n}",
      "export const shown: number;",
    ]);
  });

  it("are one for each entry point, and show a type only where it is exported", () => {
    expect([...surface.reports.keys()]).toEqual(
      ["index", "more"].map((name) => join(folder, `high/api/${name}.api.txt`)),
    );
    expect(blocks("more")).toEqual([
      "// @t/high/more\n// Made by tools/api-report.mjs; `npm run api` makes it anew.",
      "export function more(options: Options): void;\n",
    ]);
  });

  it("name a type in a public signature that no entry point exports", () => {
    expect(surface.hidden).toEqual([join(folder, "high/api/index.api.txt: Own")]);
  });
});

describe("a change of the declarations of", () => {
  const changes = [
    ["wait", "delay/growth.d.ts", "step(): number", "advance(): number", ["index"]],
    ["wait", "retry/terminal-error.d.ts", '"ERR_WAIT_TERMINAL"', '"ERR_WAIT_FINAL"', ["index"]],
    ["kubernetes", "client/api-target.d.ts", "readonly transport:", "readonly way:", ["index"]],
    ["clock", "testing/base-test-clock.d.ts", "stepSync(", "jump(", ["testing"]],
  ] as const;
  const names = ["clock", "wait", "kubernetes"];

  /** A copy of the declarations of a package, which sees the other packages as the original does. */
  function copyOf(name: string): string {
    const copy = join(folder, name);
    for (const part of ["package.json", "dist"])
      cpSync(resolve("packages", name, part), join(copy, part), {
        recursive: true,
        filter: (path) => !/\.(js|map|tsbuildinfo)$/.test(path),
      });
    symlinkSync(resolve("packages", name, "node_modules"), join(copy, "node_modules"));
    return copy;
  }

  const isCommitted = (name: string, report: string, text: string): boolean =>
    readFileSync(`packages/${name}/api/${report}.api.txt`, "utf8") === text;

  it.each(names)("%s makes each report that shows it stale", (name) => {
    const found = publicPackages().find(({ manifest }) => manifest.name === `@holdfast/${name}`);
    const copy = copyOf(name);
    const mine = changes.filter(([owner]) => owner === name);
    for (const [, file, before, after] of mine) {
      const path = join(copy, "dist", file);
      const text = readFileSync(path, "utf8");
      expect(text).toContain(before);
      writeFileSync(path, text.replace(before, after));
    }
    const { reports } = surfaceOf([{ folder: copy, manifest: found?.manifest }]);
    const stale = [...reports].filter(
      ([path, text]) =>
        !isCommitted(name, path.slice(`${copy}/api/`.length, -".api.txt".length), text),
    );
    expect(stale.map(([path]) => path)).toEqual(
      [...new Set(mine.flatMap(([, , , , where]) => where))].map(
        (one) => `${copy}/api/${one}.api.txt`,
      ),
    );
    const all = stale.map(([, text]) => text).join("\n");
    for (const [, , , after] of mine) expect(all).toContain(after);
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
