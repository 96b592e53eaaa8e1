import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { publicPackages } from "../packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const MODULES =
  "fs|net|https?|http2|tls|dgram|dns|child_process|cluster|inspector|repl|worker_threads";
const BUILT_IN = new RegExp(`^(?:node:)?(${MODULES})(?:/promises)?$`);

/** What opens nothing by itself. */
const HARMLESS = new Set([
  ...["fs.constants", "fs.closeSync", "fs.fstatSync", "fs.ftruncateSync", "fs.readSync"],
  ...["net.isIP", "net.isIPv4", "net.isIPv6", "net.BlockList"],
  ...[
    "http.Agent",
    "https.Agent",
    "http.STATUS_CODES",
    "child_process.ChildProcess",
    "dns.getDefaultResultOrder",
  ],
]);

/** The code without comments that have a line of their own. */
function codeOf(text: string): string {
  return text.replaceAll(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*$)/gm, "");
}

/** What a source calls that opens a file or a connection, listens, or starts a program. */
function doorsOf(text: string): string[] {
  const code = codeOf(text);
  const doors = new Set<string>();
  for (const [, type, names = "", from = ""] of code.matchAll(
    /^(?:import|export) (type )?([^"';]*?) ?from "([^"]+)";/gm,
  )) {
    const [, module] = BUILT_IN.exec(from) ?? [];
    if (module === undefined || type !== undefined) continue;
    const [, list] = /^\{([\s\S]*)\}$/.exec(names) ?? [];
    if (list === undefined) doors.add(`all of ${module}`);
    for (const name of list?.split(",") ?? [])
      if (!/^\s*(type\s|$)/.test(name)) doors.add(`${module}.${name.trim().split(/\s/)[0]}`);
  }
  for (const [, from = ""] of code.matchAll(/\bimport\(\s*["'`]([^"'`]*)/g))
    if (BUILT_IN.test(from)) doors.add(`import of ${from}`);
  if (/(?<![.#\w])require\(\s*["'`]/.test(code)) doors.add("require");
  if (/\.getBuiltinModule|process\.binding/.test(code)) doors.add("getBuiltinModule");
  if (/\.listen\(\s*[^)\s]/.test(code)) doors.add("listen");
  if (/(?<![.\w])fetch\(/.test(code)) doors.add("fetch");
  return [...doors].filter((door) => !HARMLESS.has(door)).toSorted();
}

/** All doors in the sources of the published packages and of their kit, by file. */
function doors(): Map<string, string[]> {
  const folders = ["packages/kit", ...publicPackages().map(({ folder }) => folder)];
  const sources = folders.flatMap((folder) =>
    readdirSync(`${root}${folder}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${folder}/src/${file}`),
  );
  const all = sources.map((file) => [file, doorsOf(readFileSync(root + file, "utf8"))] as const);
  return new Map(all.filter(([, found]) => found.length > 0));
}

it("docs/security.md lists every door in the code: listeners, files, connections and programs", () => {
  const text = readFileSync(`${root}docs/security.md`, "utf8");
  const [, section = ""] =
    /^## Every door in the code\n([\s\S]*?)(?=^## |\n*$(?![\s\S]))/m.exec(text) ?? [];
  const listed = new Map<string, string[]>();
  for (const [, file = "", calls = ""] of section.matchAll(/^\| `([^`|]+\.ts)` \| ([^|]*) \|/gm))
    listed.set(
      `packages/${file}`,
      [...calls.matchAll(/`([^`]+)`/g)].map(([, call = ""]) => call).toSorted(),
    );
  expect(Object.fromEntries([...listed].toSorted())).toEqual(
    Object.fromEntries([...doors()].toSorted()),
  );
});

it.each([
  ['import { readFileSync } from "node:fs";', ["fs.readFileSync"]],
  ['import { readFile as read, constants } from "fs/promises";', ["fs.readFile"]],
  ['import {\n  type Socket,\n  connect,\n} from "node:net";', ["net.connect"]],
  ['import type { Socket } from "node:net";', []],
  ['import fs from "node:fs";', ["all of fs"]],
  ['import * as tls from "node:tls";', ["all of tls"]],
  ['export { open } from "node:fs/promises";', ["fs.open"]],
  ['const fs = await import("node:fs");', ["import of node:fs"]],
  ['const fs = require("fs");', ["require"]],
  ['const fs = process.getBuiltinModule("fs");', ["getBuiltinModule"]],
  ["await fetch(url);", ["fetch"]],
  ["server.listen(0);\nserver.listen({ port });", ["listen"]],
  ['// import { open } from "node:fs";\n/** server.listen(0) */\nthis.fetch(x);', []],
])("a door is found: %s", (text, found) => {
  expect(doorsOf(text)).toEqual(found);
});
