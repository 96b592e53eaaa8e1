import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkLayers } from "../layers.mjs";

const folders = {
  "packages/low/src": {
    npm: ["rxjs"],
    layers: [["words.ts", "shape.ts"], ["thing.ts"], ["index.ts"]],
  },
  "packages/high/src": {
    on: ["packages/low/src"],
    layers: [["use.ts"]],
  },
};

/** A tree that keeps to the list; each row of the table below changes one file of it. */
const good: Record<string, string> = {
  "packages/low/package.json":
    '{ "name": "low", "exports": { ".": { "@holdfast/source": "./src/index.ts" } } }',
  "packages/low/src/words.ts": "export type Word = string;",
  "packages/low/src/shape.ts": 'import "node:fs"; import "rxjs"; export const side = 1;',
  "packages/low/src/thing.ts": 'import type { Word } from "./words.ts"; export type Thing = Word;',
  "packages/low/src/index.ts": 'export type { Thing } from "./thing.ts";',
  "packages/high/package.json": '{ "name": "high" }',
  "packages/high/src/use.ts": 'import type { Thing } from "low"; export type { Thing };',
  "packages/program/package.json": '{ "name": "program", "private": true }',
  "packages/program/src/main.ts": 'import "low";',
  "node_modules/rxjs/package.json": '{ "name": "rxjs", "main": "index.js" }',
  "node_modules/rxjs/index.js": "",
};

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "layers-"));
  write(good);
  symlinkSync(join(root, "packages/low"), join(root, "node_modules/low"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

it("accepts imports that go down", async () => {
  expect(await checkLayers(root, folders)).toEqual([]);
});

interface Breach {
  name: string;
  path: string;
  code: string;
  problems: string[];
}

it.each<Breach>([
  {
    name: "an import upward, and the cycle it closes",
    path: "packages/low/src/words.ts",
    code: 'import "./thing.ts"; export type Word = string;',
    problems: [
      "packages/low/src/thing.ts: imports itself in the end: packages/low/src/thing.ts -> packages/low/src/words.ts -> packages/low/src/thing.ts",
      "packages/low/src/words.ts: imports packages/low/src/thing.ts, which is not below it in tools/layers.cjs",
    ],
  },
  {
    name: "an import upward of a type alone",
    path: "packages/low/src/words.ts",
    code: 'import type { Thing } from "./thing.ts"; export type Word = Thing;',
    problems: [
      "packages/low/src/thing.ts: imports itself in the end: packages/low/src/thing.ts -> packages/low/src/words.ts -> packages/low/src/thing.ts",
      "packages/low/src/words.ts: imports packages/low/src/thing.ts, which is not below it in tools/layers.cjs",
    ],
  },
  {
    name: "an import sideways",
    path: "packages/low/src/words.ts",
    code: 'import type { Shape } from "./shape.ts"; export type Word = Shape;',
    problems: [
      "packages/low/src/words.ts: imports packages/low/src/shape.ts, which is not below it in tools/layers.cjs",
    ],
  },
  {
    name: "an import of another package's insides",
    path: "packages/high/src/use.ts",
    code: 'import "../../low/src/words.ts";',
    problems: [
      "packages/high/src/use.ts: imports packages/low/src/words.ts, past the entry points of its package",
    ],
  },
  {
    name: "an import of a package that the folder may not use",
    path: "packages/high/src/use.ts",
    code: 'import { of } from "rxjs"; of(1);',
    problems: [
      "packages/high/src/use.ts: imports node_modules/rxjs/index.js, which is not below it in tools/layers.cjs",
    ],
  },
  {
    name: "a file in no layer",
    path: "packages/low/src/deep/extra.ts",
    code: "export const extra = 1;",
    problems: [
      "packages/low/src/deep/extra.ts: in no layer yet. Say in tools/layers.cjs which one it belongs to",
    ],
  },
])("reports $name", async ({ path, code, problems }) => {
  write({ [path]: code });
  expect(await checkLayers(root, folders)).toEqual(problems);
});

it("reports an entry without a file, and a file with two entries", async () => {
  const layers = [["words.ts", "shape.ts"], ["thing.ts"], ["index.ts", "words.ts", "gone.ts"]];
  const low = { ...folders["packages/low/src"], layers };
  expect(await checkLayers(root, { ...folders, "packages/low/src": low })).toEqual([
    "packages/low/src/gone.ts: does not exist. Take it out of tools/layers.cjs",
    "packages/low/src/words.ts: in two layers. Keep one in tools/layers.cjs",
  ]);
});
