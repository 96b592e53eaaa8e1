import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkLayers } from "../layers.mjs";

const layers: Record<string, Record<string, string[]>> = {
  "packages/low/src": {
    words: [],
    ".": ["words"],
    "words/late.ts": ["words", "."],
    rxjs: ["npm:rxjs", "words"],
  },
  "packages/high/src": { "*": ["@holdfast/low"], ".": [], side: [] },
  program: { "*": ["@holdfast/low", "packages/high/dist", "npm:*"] },
};

/** A tree that keeps to the list; each test below changes one file of it. */
const good: Record<string, string> = {
  "packages/low/package.json": JSON.stringify({
    name: "@holdfast/low",
    exports: {
      ".": { "@holdfast/source": "./src/index.ts" },
      "./rxjs": { "@holdfast/source": "./src/rxjs/index.ts" },
    },
  }),
  "packages/low/src/words/word.ts": 'import "node:fs"; export type Word = string;',
  "packages/low/src/words/verb.ts":
    'import type { Word } from "./word.ts"; export type Verb = Word;',
  "packages/low/src/words/deep/noun.ts": "export type Noun = string;",
  "packages/low/src/words/late.ts": 'import "../thing.ts"; import "./word.ts";',
  "packages/low/src/thing.ts":
    'import type { Word } from "./words/word.ts"; export type Thing = Word;',
  "packages/low/src/rxjs/index.ts": 'import "rxjs/operators"; import "../words/word.ts";',
  "packages/low/src/index.ts": 'export type { Thing } from "./thing.ts"; import "./words/late.ts";',
  "packages/low/test/thing.test.ts": 'import "../src/thing.ts"; import "../../../test/kit.ts";',
  "packages/high/package.json": JSON.stringify({
    name: "@holdfast/high",
    exports: { ".": { "@holdfast/source": "./src/use.ts" } },
  }),
  "packages/high/src/use.ts": 'import type { Thing } from "@holdfast/low"; export type { Thing };',
  "packages/high/src/side/side.ts": "export const side = 1;",
  "packages/high/dist/use.js": "",
  "program/package.json": '{ "name": "program" }',
  "program/main.ts":
    'import "@holdfast/low"; import "./deep/part.ts"; import "../packages/high/dist/use.js";',
  "program/deep/part.ts": 'import "rxjs";',
  "test/kit.ts": "export const kit = 1;",
  "node_modules/rxjs/package.json": '{ "name": "rxjs", "main": "index.js" }',
  "node_modules/rxjs/index.js": "",
  "node_modules/rxjs/operators/index.js": "",
};

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "layers-"));
  write(good);
  mkdirSync(join(root, "node_modules/@holdfast"));
  for (const name of ["low", "high"])
    symlinkSync(join(root, "packages", name), join(root, "node_modules/@holdfast", name));
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
  expect(await checkLayers(root, layers)).toEqual([]);
});

const unlisted = (from: string, to: string, folder: string) =>
  `${from}: imports ${to}, which tools/layers.cjs does not list for ${folder}`;

const cycle = (...path: string[]) =>
  `packages/low/src/${path[0]}: import cycle: ${path.map((file) => `packages/low/src/${file}`).join(" -> ")}`;

interface Breach {
  name: string;
  files: Record<string, string>;
  problems: string[];
}

it.each<Breach>([
  {
    name: "an import of a folder above, and the cycle it closes",
    files: { "packages/low/src/words/word.ts": 'import "../thing.ts"; export type Word = string;' },
    problems: [
      cycle("thing.ts", "words/word.ts", "thing.ts"),
      unlisted("packages/low/src/words/word.ts", ".", "words"),
    ],
  },
  {
    name: "an import of a type alone from a folder above",
    files: {
      "packages/low/src/words/deep/noun.ts":
        'import type { Thing } from "../../thing.ts"; export type Noun = Thing;',
    },
    problems: [unlisted("packages/low/src/words/deep/noun.ts", ".", "words")],
  },
  {
    name: "a cycle of types within a folder",
    files: {
      "packages/low/src/words/word.ts":
        'import type { Verb } from "./verb.ts"; export type Word = Verb;',
    },
    problems: [cycle("words/verb.ts", "words/word.ts", "words/verb.ts")],
  },
  {
    name: "an import of the late file of a folder",
    files: { "packages/low/src/words/verb.ts": 'import "./late.ts"; export type Verb = string;' },
    problems: [unlisted("packages/low/src/words/verb.ts", "words/late.ts", "words")],
  },
  {
    name: "an import of a folder beside",
    files: {
      "packages/high/src/side/side.ts": 'import "../other/other.ts"; export const side = 1;',
      "packages/high/src/other/other.ts": "export const other = 1;",
    },
    problems: [
      "packages/high/src/other/other.ts: in no folder of tools/layers.cjs. List its folder there",
      unlisted("packages/high/src/side/side.ts", "packages/high/src/other/other.ts", "side"),
    ],
  },
  {
    name: "an import of an entry point from inside its package",
    files: { "packages/low/src/words/late.ts": 'import "../rxjs/index.ts";' },
    problems: [
      "packages/low/src/words/late.ts: imports packages/low/src/rxjs/index.ts, an entry point of its own package",
    ],
  },
  {
    name: "an import of an entry point that is not listed",
    files: {
      "packages/high/src/side/side.ts": 'import "@holdfast/low/rxjs"; export const side = 1;',
    },
    problems: [unlisted("packages/high/src/side/side.ts", "@holdfast/low/rxjs", "side")],
  },
  {
    name: "an import past the entry points of another package",
    files: {
      "packages/high/src/side/side.ts":
        'import "../../../low/src/words/word.ts"; export const side = 1;',
    },
    problems: [
      unlisted("packages/high/src/side/side.ts", "packages/low/src/words/word.ts", "side"),
    ],
  },
  {
    name: "an import past the entry points of another package, in a test",
    files: { "packages/high/test/use.test.ts": 'import "../../low/src/words/word.ts";' },
    problems: [
      "packages/high/test/use.test.ts: imports packages/low/src/words/word.ts, past the entry points of its package",
    ],
  },
  {
    name: "an import of a package that is not listed for the folder",
    files: {
      "packages/low/src/words/verb.ts":
        'import { of } from "rxjs"; of(1); export type Verb = string;',
    },
    problems: [unlisted("packages/low/src/words/verb.ts", "npm:rxjs", "words")],
  },
  {
    name: "an import of a workspace above",
    files: { "packages/low/src/words/deep/noun.ts": 'import "@holdfast/high";' },
    problems: [unlisted("packages/low/src/words/deep/noun.ts", "@holdfast/high", "words")],
  },
  {
    name: "a workspace that is not listed",
    files: { "packages/new/package.json": '{ "name": "@holdfast/new" }' },
    problems: ["packages/new: not in tools/layers.cjs yet. List its folders there"],
  },
])("reports $name", async ({ files, problems }) => {
  write(files);
  expect(await checkLayers(root, layers)).toEqual(problems);
});

it.each<{ name: string; folder: string; imports: string[]; problem: string }>([
  {
    name: "a folder that does not exist",
    folder: "gone",
    imports: [],
    problem: "packages/high/src/gone: does not exist. Remove it from tools/layers.cjs",
  },
  {
    name: "an import of a folder that stands below in the list",
    folder: ".",
    imports: ["side"],
    problem: "packages/high/src/.: lists side, which does not stand above it in tools/layers.cjs",
  },
  {
    name: "an import of a workspace that stands below in the list",
    folder: "side",
    imports: ["program"],
    problem:
      "packages/high/src/side: lists program, which does not stand above it in tools/layers.cjs",
  },
])("reports, in the list itself, $name", async ({ folder, imports, problem }) => {
  const high = { ...layers["packages/high/src"], [folder]: imports };
  expect(await checkLayers(root, { ...layers, "packages/high/src": high })).toEqual([problem]);
});
